"""The program: ``kubectl-spread``, which kubectl runs as ``kubectl spread``.

It imports next to nothing before Ctrl-C is heeded: until then Python answers with a traceback.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from types import TracebackType

COMPLETE = "__complete"
"""In place of a command: say how the words that follow may go on. For completion scripts, not for people."""
OBJECTS_BETWEEN_COLLECTIONS = 200_000
"""Python's own 700 make it look for garbage dozens of times while modules load, where there is none."""


def main() -> None:
    """Run the command line."""
    _start(sys.argv[1:])


def complete() -> None:
    """Say how a command line may go on, as ``kubectl_complete-spread``, which kubectl runs on TAB."""
    _start([COMPLETE, *sys.argv[1:]])


def _start(words: list[str]) -> None:
    _heed_interrupts()
    sys.excepthook = _report_bug
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    import typer

    from kubectl_spread.cli import PROGRAM, application, as_meant, in_order

    if words[:1] != [COMPLETE]:
        ordered = as_meant(words)
        try:
            application(ordered)(ordered, prog_name=PROGRAM)
        except SystemExit as ended:
            _leave(ended.code if isinstance(ended.code, int) else 1)
        return
    from kubectl_spread.cli.candidates import answer

    ordered = in_order(words[1:])
    answer(typer.main.get_group(application(ordered)), ordered)


def _heed_interrupts() -> None:
    """Let Ctrl-C end the program, unless whoever started it said to ignore that."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def _leave(code: int) -> None:
    """End with the code, as Python would, but without taking apart what the system frees at once.

    That took a fifth of the processor time of a short answer.
    """
    from contextlib import suppress

    atexit._run_exitfuncs()  # noqa: SLF001 - there is no other name for it
    with suppress(OSError):
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
    os._exit(code)


def _end(number: int, _: object) -> None:
    """End now, with the exit code of a shell, whatever is under way.

    Python's KeyboardInterrupt would be lost in a callback of an import, or leave a traceback there.
    """
    if sys.stderr is not None and sys.stderr.isatty():
        os.write(sys.stderr.fileno(), b"\n")  # what a progress line said stays above the prompt
    os._exit(128 + number)


def _report_bug(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Report a bug in one line that is enough to find it, and end as what could not determine anything.

    Python would end with 1, which is an answer.
    """
    from kubectl_spread.errors import ExitCode

    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f"{trace.tb_frame.f_globals.get('__name__')}, line {trace.tb_lineno}" if trace else "nowhere"
    text = f"error: this is a bug in kubectl spread, please report it: {kind.__name__} in {where}: {error!s:.200}"
    if sys.stderr is not None:
        sys.stderr.write(f"{''.join(each if each.isprintable() else '?' for each in text)}\n")
        sys.stderr.flush()
    os._exit(ExitCode.UNDETERMINED)


if __name__ == "__main__":
    main()
