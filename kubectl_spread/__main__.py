"""The program: ``kubectl-spread``, which kubectl runs as ``kubectl spread``."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from kubectl_spread.cli import PROGRAM, app

    app(prog_name=PROGRAM)


if __name__ == "__main__":
    main()
