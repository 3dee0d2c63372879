"""The exit codes of the program; ``commands.exit_codes`` decides which one a report has."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of the program; scripts may rely on the first four."""

    ANSWERED = 0  # there is an answer
    NO = 1  # the answer is no
    USAGE = 2  # the command line is invalid
    UNDETERMINED = 3  # there is no answer, or it is incomplete
    CLOSED_PIPE = 128 + 13  # the reader of the output is gone; the code that a shell gives for SIGPIPE

    @classmethod
    def of_items(cls, *, no: bool, incomplete: bool) -> ExitCode:
        """Return the code for several answers: a no takes precedence over an incomplete answer."""
        if no:
            return cls.NO
        return cls.UNDETERMINED if incomplete else cls.ANSWERED
