"""The errors a user may see, each with what failed and what to do next, and the exit codes of the program.

A Pod that cannot be placed is an answer, never one of these. Only ``kubectl_spread.cli`` catches them: it prints them
to standard error and chooses the exit code.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum


class ExitCode(IntEnum):
    """What the program ends with; the first four are the contract with scripts.

    Attributes:
        ANSWERED: there is an answer.
        NO: there is an answer, and it is no.
        USAGE: the command line does not make sense.
        UNDETERMINED: there is no answer, or not a whole one.
        CLOSED_PIPE: nobody reads the answer; what a shell makes of SIGPIPE, which Python turns into an error.
    """

    ANSWERED = 0
    NO = 1
    USAGE = 2
    UNDETERMINED = 3
    CLOSED_PIPE = 128 + 13

    @classmethod
    def of_items(cls, *, no: bool, incomplete: bool) -> ExitCode:
        """Return the code for several answers: a no outweighs an answer that is not whole."""
        if no:
            return cls.NO
        return cls.UNDETERMINED if incomplete else cls.ANSWERED


class SpreadError(Exception):
    """The base of every error this program raises on purpose.

    The message names the thing, in one line; the hint is what to do next, empty when the message says it.
    """

    exit_code = ExitCode.UNDETERMINED

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(SpreadError):
    """The command line asks for something that does not exist or does not fit together."""

    exit_code = ExitCode.USAGE


class ClusterError(SpreadError):
    """The API server, or the way to it, did not answer the question.

    ``what`` was being read, such as ``list pods``; empty when no request was made. ``status`` is 0 without an answer.
    """

    def __init__(self, message: str, *, what: str = "", status: int = 0, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.what = what
        self.status = status


@dataclass(frozen=True, slots=True)
class ManifestProblem:
    """One thing that is wrong with an input file.

    Attributes:
        source: the file, URL or ``standard input``.
        message: what is wrong.
        document: which document of the file, counted from 1; 0 when the whole file is meant.
        field_path: where in the document, such as ``spec.containers[0].name``; empty when the whole document is meant.
    """

    source: str
    message: str
    document: int = 0
    field_path: str = ""

    @property
    def place(self) -> str:
        """Where it is wrong, the most general place first."""
        place = [self.source]
        if self.document:
            place.append(f"document {self.document}")
        if self.field_path:
            place.append(self.field_path)
        return ", ".join(place)

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


class ManifestError(SpreadError):
    """One or more input files cannot be read as Kubernetes objects.

    The problems are in input order, at least one.
    """

    def __init__(self, problems: Iterable[ManifestProblem], *, hint: str = "") -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)), hint=hint)


class UnreadableError(Exception):
    """Why bytes cannot be had, in words that follow the source's name: ``does not exist``. No user sees it as it is."""
