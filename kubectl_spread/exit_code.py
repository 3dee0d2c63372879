"""The exit codes of the program; ``commands.exit_codes`` decides which one a report has."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of the program; scripts may rely on the first four.

    Attributes:
        ANSWERED: there is an answer.
        NO: the answer is no.
        USAGE: the command line is invalid.
        UNDETERMINED: there is no answer, or it is incomplete.
        CLOSED_PIPE: the reader of the output is gone; the code that a shell gives for SIGPIPE.
    """

    ANSWERED = 0
    NO = 1
    USAGE = 2
    UNDETERMINED = 3
    CLOSED_PIPE = 128 + 13

    @classmethod
    def of_items(cls, *, no: bool, incomplete: bool) -> ExitCode:
        """Return the code for several answers: a no takes precedence over an incomplete answer."""
        if no:
            return cls.NO
        return cls.UNDETERMINED if incomplete else cls.ANSWERED
