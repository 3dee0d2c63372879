"""The pages of ``docs/commands``, one a command, written from what ``--help`` is made of."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

from kubectl_spread.cli import application
from kubectl_spread.cli.flags import ConnectionFlags, LogFlags, OutputFlags, SchedulerFlags, ScopeFlags
from tests.pages.consoles import ROOT

FOLDER = ROOT / "docs" / "commands"
SHOP = "--from examples/shop.yaml"
SESSIONS: Mapping[str, tuple[str, ...]] = {
    "show": (f"kubectl spread show -n shop {SHOP}", f"kubectl spread show deployment/web -n shop {SHOP} --by-node"),
    "why-pending": (f"kubectl spread why-pending -n shop {SHOP}",),
    "check": (f"kubectl spread check -f examples/checkout.yaml {SHOP}",),
    "audit": (f"kubectl spread audit -n shop {SHOP}", f"kubectl spread audit deployment/web -n shop {SHOP}"),
    "simulate": (f"kubectl spread simulate --drain node-a1 -n shop {SHOP}",),
    "rebalance": (f"kubectl spread rebalance -n shop --soft {SHOP}",),
    "snapshot": (),
    "serve": (),
    "explain": ("kubectl spread explain", "kubectl spread explain PinnedMinimum"),
    "options": ("kubectl spread options",),
    "completion": (),
    "version": ("kubectl spread version",),
}
"""Command → what its page shows of it at work."""

_SHARED = {"Scope": ScopeFlags, "Output": OutputFlags}
_ON_THE_PAGE_OF_OPTIONS = (SchedulerFlags, LogFlags, ConnectionFlags)


def pages() -> dict[Path, str]:
    """Return every page, its consoles without what they print."""
    command: Any = typer.main.get_command(application())
    found = {FOLDER / f"{name}.md": _page(name, each) for name, each in command.commands.items()}
    return {**found, FOLDER / "README.md": _contents(command.commands)}


def _contents(commands: Mapping[str, Any]) -> str:
    """Return the page that leads to the others."""
    rows = [f"| [{name}]({name}.md) | {_first_line(each.help)} |" for name, each in commands.items()]
    return "\n".join(["# Commands", "", "| command | |", "|---|---|", *rows, ""])


def _page(name: str, command: Any) -> str:  # noqa: ANN401 - typer gives its commands no public type
    parts = [f"# kubectl spread {name}", inspect.cleandoc(command.help)]
    arguments = [parameter.metavar for parameter in command.params if parameter.param_type_name == "argument"]
    parts.append(f"```text\nkubectl spread {' '.join([name, *arguments, '[options]'])}\n```")
    examples = inspect.cleandoc((command.epilog or "").replace("\b", "")).strip()
    if examples:
        parts.append(f"```text\n{examples}\n```")
    parts += [f"```console\n$ {session}\n```" for session in SESSIONS[name]]
    parts += _flag_tables(command.params)
    return "\n\n".join(parts) + "\n"


def _flag_tables(parameters: Iterable[Any]) -> Iterator[str]:
    """Yield a table for the command's own flags and one for each group it shares with others."""
    flags = [parameter for parameter in parameters if parameter.param_type_name == "option"]
    shared = {title: set(group.names()) for title, group in _SHARED.items()}
    elsewhere = frozenset[str]().union(*(group.names() for group in _ON_THE_PAGE_OF_OPTIONS))
    known = elsewhere.union(*shared.values())
    own = [flag for flag in flags if flag.name not in known]
    if own:
        yield _table("Flags", own)
    for title, names in shared.items():
        group = [flag for flag in flags if flag.name in names]
        if group:
            yield _table(title, group)
    if any(flag.name == "from_" for flag in flags):
        yield "[Options](options.md) has the flags for the cluster, the scheduler, the log and the connection."


def _table(title: str, flags: Iterable[Any]) -> str:
    rows = [f"| `{_form(flag)}` | {_cell(flag.help or '')} |" for flag in flags]
    return "\n".join([f"## {title}", "", "| flag | |", "|---|---|", *rows])


def _form(flag: Any) -> str:  # noqa: ANN401 - as above
    """Return the flag as one writes it, such as ``-n, --namespace NAMESPACE``."""
    names = ", ".join(sorted(flag.opts, key=len))
    takes = "" if flag.is_flag else f" {flag.metavar or 'TEXT'}"
    return _cell(names + takes)


def _cell(text: str) -> str:
    """Return the text as a Markdown table takes it."""
    return " ".join(text.split()).replace("|", "\\|")


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0]
