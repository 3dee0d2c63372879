"""The errors that users see, each with what failed and the next step.

A Pod that cannot be placed is an answer, not an error. Only ``kubectl_spread.cli`` catches these errors: it prints them
to standard error and sets the exit code.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kubectl_spread.exit_code import ExitCode

if TYPE_CHECKING:
    from kubectl_spread.manifest_problem import ManifestProblem


class SpreadError(Exception):
    """The base of all errors that this program raises on purpose.

    The message names the object, in one line; the hint is the next step, empty if the message has it.
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
    """The API server did not answer, or rejected the request.

    ``what`` was requested, such as ``list pods``; empty without a request. ``status`` is 0 without an answer.
    """

    def __init__(self, message: str, *, what: str = "", status: int = 0, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.what = what
        self.status = status


class ManifestError(SpreadError):
    """Input files cannot be read as Kubernetes objects; it has at least one problem, in input order."""

    def __init__(self, problems: Iterable[ManifestProblem], *, hint: str = "") -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)), hint=hint)


class UnreadableError(Exception):
    """Why a source cannot be read, in words that follow its name: ``does not exist``. Users do not see it directly."""
