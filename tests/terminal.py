"""A shell at a terminal of its own, to type into."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Shell:
    """How to talk to a shell."""

    start: str  # its command line, without anybody's settings
    prepare: str  # makes its completion ready, and control-G print the line as it stands
    source: str  # reads what a command prints, which stands for ``{}``


SHELLS = {
    "bash": Shell(
        "bash --norc --noprofile -i", 'bind -x \'"\\C-g": printf "<%s>\\n" "$READLINE_LINE"\'', "source <({})"
    ),
    "zsh": Shell(
        "zsh -f -i",
        "autoload -U compinit; compinit -u -D; shown() print -r \"<$BUFFER>\"; zle -N shown; bindkey '^G' shown",
        "source <({})",
    ),
    "fish": Shell(
        "fish --no-config -i", "function shown; printf '<%s>\\n' (commandline); end; bind \\cg shown", "{} | source"
    ),
}


class Terminal:
    """A shell at a terminal."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def type(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

    def wait_for(self, pattern: str) -> str:
        """Return the first group of what the shell is to print.

        Raises:
            AssertionError: it has not printed it in time; the text is what it did print.
        """
        shown = ""
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            if select.select([self._descriptor], [], [], 0.1)[0]:
                shown += os.read(self._descriptor, 65536).decode(errors="replace")
                if match := re.search(pattern, shown):
                    return match[1]
        raise AssertionError(f"no {pattern} in {shown!r}")


@contextmanager
def terminal(command: Sequence[str], env: dict[str, str]) -> Iterator[Terminal]:
    """Run a shell at a terminal of its own, in its home, until the block ends."""
    controller, end = pty.openpty()
    # Whoever opens a terminal in a new session has it as its own, as fish wants it.
    opening = ["/bin/sh", "-c", 'exec "$@" <"$0" >"$0" 2>&1', os.ttyname(end), *command]
    shell = subprocess.Popen(opening, env=env, cwd=env["HOME"], start_new_session=True)
    try:
        yield Terminal(controller)
    finally:
        shell.kill()
        shell.wait()
        os.close(end)
        os.close(controller)


def printed_on(columns: int, *command: str | Path) -> str:
    """Return what a command prints on a terminal of that width, its lines ended as in a file."""
    controller, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=end, stderr=end):
        os.close(end)
        shown = b"".join(_read_all(controller))
    os.close(controller)
    return shown.decode().replace("\r\n", "\n")


def _read_all(descriptor: int) -> Iterator[bytes]:
    """Yield what comes to a terminal until nobody writes to it."""
    while True:
        try:
            yield os.read(descriptor, 65536)
        except OSError:  # Linux says so with EIO.
            return


@contextmanager
def completing(name: str, scripts: Sequence[str], env: dict[str, str]) -> Iterator[Callable[[str], str]]:
    """Run a shell until the block ends; yield what returns the line that TAB makes of a line.

    Args:
        name: of the shell.
        scripts: commands that print what the shell is to read first.
        env: its environment.
    """
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    shell = SHELLS[name]
    with terminal(shell.start.split(), env) as keys:
        first = [shell.prepare, *(shell.source.format(script) for script in scripts), "echo rea''dy"]
        keys.type("; ".join(first) + "\r")
        keys.wait_for("(ready)\r")

        def complete(typed: str) -> str:
            keys.type(f"{typed}\t\x07")
            line = keys.wait_for("<([^>]*)>\r?\n")
            keys.type("\x15")
            return line

        yield complete
