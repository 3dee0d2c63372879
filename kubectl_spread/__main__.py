"""The program: ``kubectl-spread``, which kubectl runs as ``kubectl spread``."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main() -> None:
    """Run the command line, or say how it may go on."""
    if sys.argv[1:2] == ["__complete"]:
        _complete(sys.argv[2:])
        return
    from kubectl_spread.cli import PROGRAM, app

    app(prog_name=PROGRAM)


def complete() -> None:
    """Say how a command line may go on, as ``kubectl_complete-spread``, which kubectl runs on TAB."""
    _complete(sys.argv[1:])


def _complete(words: Sequence[str]) -> None:
    """Print what may follow the words."""
    import typer

    from kubectl_spread.cli import app
    from kubectl_spread.cli.candidates import answer

    answer(typer.main.get_group(app), words)


if __name__ == "__main__":
    main()
