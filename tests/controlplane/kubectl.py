"""The kubectl of the built release, with `kubectl spread` as the plugin of this environment."""

import os
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path

_TIMEOUT_S = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Kubectl:
    """kubectl as a user has it: a kubeconfig, a home of its own, and the plugin on PATH."""

    binary: Path
    kubeconfig: Path
    home: Path

    def run(self, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        """Return how a command ended and what it printed."""
        return subprocess.run(
            [str(self.binary), *arguments],
            input=stdin,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )

    def __call__(self, *arguments: str, stdin: str | None = None) -> str:
        """Return what a command printed.

        Raises:
            AssertionError: it failed; the text is what it said on stderr.
        """
        ended = self.run(*arguments, stdin=stdin)
        if ended.returncode:
            raise AssertionError(f"kubectl {' '.join(arguments)} ended with {ended.returncode}: {ended.stderr}")
        return ended.stdout

    def environment(self) -> dict[str, str]:
        """Return the environment in which kubectl runs: nothing of the caller's clusters reaches it."""
        path = [sysconfig.get_path("scripts"), str(self.binary.parent), os.environ.get("PATH", os.defpath)]
        return {"PATH": os.pathsep.join(path), "HOME": str(self.home), "KUBECONFIG": str(self.kubeconfig)}
