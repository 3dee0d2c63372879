"""The program ``kubectl-spread``, which kubectl runs as ``kubectl spread``.

It imports almost nothing before it handles Ctrl-C: until then Python prints a traceback.
"""

import atexit
import gc
import os
import signal
import sys
from types import TracebackType

COMPLETE = "__complete"  # The command of completion scripts: print the completions of the words that follow
# With Python's default of 700 it looks for garbage dozens of times while modules load, and finds none.
OBJECTS_BETWEEN_COLLECTIONS = 200_000


def main() -> None:
    """Run the command line."""
    _start(sys.argv[1:])


def complete() -> None:
    """Print the completions of a command line, as ``kubectl_complete-spread``, which kubectl runs on TAB."""
    _start([COMPLETE, *sys.argv[1:]])


def _start(words: list[str]) -> None:
    # A program that starts this one may ignore Ctrl-C; then so do we.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _exit_on_interrupt)
    sys.excepthook = _report_bug
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    import typer

    from kubectl_spread.cli import PROGRAM, add_missing_command, application, in_order

    if words[:1] != [COMPLETE]:
        ordered = add_missing_command(words)
        try:
            application(ordered)(ordered, prog_name=PROGRAM)
        except SystemExit as ended:
            _exit(ended.code if isinstance(ended.code, int) else 1)
        return
    from kubectl_spread.cli.candidates import answer

    ordered = in_order(words[1:])
    answer(typer.main.get_group(application(ordered)), ordered)


def _exit(code: int) -> None:
    """Exit as Python does, but without freeing all objects, which takes a fifth of the time of a short answer."""
    from contextlib import suppress

    atexit._run_exitfuncs()  # noqa: SLF001 - there is no other name for it
    with suppress(OSError):
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
    os._exit(code)


def _exit_on_interrupt(number: int, _: object) -> None:
    """Exit at once with the exit code of a shell.

    Python's KeyboardInterrupt can get lost in a callback of an import, or print a traceback there.
    """
    if sys.stderr is not None and sys.stderr.isatty():
        os.write(sys.stderr.fileno(), b"\n")  # keeps a progress line above the prompt
    os._exit(128 + number)


def _report_bug(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Report a bug in one line with its place, and exit with UNDETERMINED; Python's 1 would be an answer."""
    from kubectl_spread.exit_code import ExitCode

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
