"""``kubectl spread completion``."""

import platform
import shutil
from pathlib import Path
from typing import Annotated

import typer

from kubectl_spread.cli import output
from kubectl_spread.cli.flags import LogFlags, Option
from kubectl_spread.errors import SpreadError, UsageError

EPILOG = """
\b
Examples:
  kubectl spread completion --install      # complete `kubectl spread` where kubectl completion is set up
  kubectl spread completion                # print the script kubectl_complete-spread
  source <(kubectl-spread completion bash) # complete `kubectl-spread` without kubectl
"""

KUBECTL = "kubectl_complete-spread"
# Shell, or kubectl → the script in ``kubectl_spread/completions``.
SCRIPTS = {
    "kubectl": KUBECTL,
    "bash": "kubectl-spread.bash",
    "zsh": "_kubectl-spread",
    "fish": "kubectl-spread.fish",
    "powershell": "kubectl-spread.ps1",
}


class CompletionFlags(LogFlags):
    """The flags of ``completion``."""

    shell: Annotated[str, typer.Argument(metavar=f"[{'|'.join(SCRIPTS)}]")] = "kubectl"
    install: Annotated[bool, Option(help=f"Write {KUBECTL} beside kubectl-spread, where kubectl finds it.")] = False


def completion(flags: CompletionFlags) -> None:
    """Print the completion script for kubectl (the default) or for a shell.

    kubectl completes plugins in the shells where its own completion is set up. It runs kubectl_complete-spread, which
    must be on PATH; --install puts it there. `krew uninstall` does not remove it.
    """
    from importlib import resources

    if flags.shell not in SCRIPTS:
        raise UsageError(f"no completion for {flags.shell!r}", hint=f"must be one of: {', '.join(SCRIPTS)}")
    text = resources.files("kubectl_spread").joinpath("completions", SCRIPTS[flags.shell]).read_text(encoding="utf-8")
    if not flags.install:
        output.write(text)
        return
    if flags.shell != "kubectl":
        raise UsageError(
            f"--install works only for kubectl, not for {flags.shell}",
            hint="put the script where the shell reads completions",
        )
    output.write(_install(text))


def _install(text: str) -> str:
    """Write the script beside ``kubectl-spread`` on PATH; return a line that says where, and what it replaces."""
    if platform.system() == "Windows":
        raise UsageError("kubectl runs no shell script on Windows", hint=f"pip installs {KUBECTL} as a program there")
    plugin = shutil.which("kubectl-spread")
    if plugin is None:
        raise UsageError("kubectl-spread is not on PATH", hint=f"put the script somewhere on PATH as {KUBECTL}")
    script = Path(plugin).with_name(KUBECTL)
    try:
        replaces = script.exists() and script.read_bytes() != text.encode()
        script.write_text(text, encoding="utf-8")
        script.chmod(0o755)
    except OSError as error:
        raise SpreadError(
            f"cannot write {script}: {error.strerror}", hint="copy the script to a folder on PATH"
        ) from error
    return f"{'replaced a file that differed: ' if replaces else 'wrote '}{script}\n"
