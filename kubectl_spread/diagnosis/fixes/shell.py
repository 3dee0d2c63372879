"""Command lines that the shell and kubectl read as intended, whatever names the objects have.

No API server accepts a Pod named ``--all`` or ``$(reboot)``. A file with such a name must not execute it.
"""

import json
import shlex
from collections.abc import Iterable, Sequence
from urllib.parse import quote

import msgspec

from kubectl_spread.diagnosis.fixes.change import PatchOperation
from kubectl_spread.diagnosis.fixes.conclusion import Command


def kubectl(verb: str, *arguments: str, flags: Iterable[str] = ()) -> str:
    """Return a command line in which each argument is one word, and none is read as a flag.

    The verb may have a kind, as in ``delete pod``. The values of flags are separate words.
    """
    named, options = (" ".join(map(shlex.quote, words)) for words in (arguments, flags))
    parts = (options, "--", named) if any(word.startswith("-") for word in arguments) else (named, options)
    return " ".join(filter(None, ("kubectl", verb, *parts)))


def patch_text(operations: Iterable[PatchOperation]) -> str:
    """Return a patch as printable JSON: characters that a terminal would act on are escaped."""
    encoded = msgspec.json.encode(tuple(operations))
    text = encoded.decode()
    return text if text.isprintable() else json.dumps(msgspec.json.decode(encoded), separators=(",", ":"))


def command_line(command: Command, connection_flags: Sequence[str] = ()) -> str:
    """Return a command to run; the flags select the cluster that was read."""
    kind, name = command.kind, command.name
    flags = (*(("-n", command.namespace) if command.namespace else ()), *connection_flags)
    patch = ("--type=json", "-p", patch_text(command.operations)) if command.operations else ()
    if command.verb == "evict":
        return eviction_line(command.namespace, name, "", connection_flags)
    if command.verb == "replace":
        fetched = kubectl(f"get {kind}", name, flags=(*flags, "-o", "json"))
        patched = kubectl("patch", flags=("--local", *connection_flags, "-f", "-", *patch, "-o", "json"))
        return f"{fetched} | {patched} | {kubectl('replace', flags=('--force', *flags, '-f', '-'))}"
    rolls = command.verb.startswith("rollout ")
    name = f"{kind}/{name}" if rolls else name
    verb = command.verb if rolls or command.verb == "uncordon" else f"{command.verb} {kind}"
    forced = ("--grace-period=0", "--force") if command.force else ()
    back = (f"--to-revision={command.revision}",) if command.revision else ()
    arguments = (*filter(None, (command.argument,)), *command.others)
    return kubectl(verb, name, *arguments, flags=(*flags, *patch, *forced, *back))


def eviction_line(namespace: str, name: str, uid: str, connection_flags: Sequence[str] = ()) -> str:
    """Return the command that evicts a Pod by the Eviction API, which checks budgets; no later Pod if its UID is given.

    Source: kubernetes.io/docs/concepts/scheduling-eviction/api-eviction.
    """
    flags = ("--raw", eviction_path(namespace, name), "-f", "-", *connection_flags)
    return f"echo {shlex.quote(eviction_of(namespace, name, uid))} | {kubectl('create', flags=flags)}"


def eviction_path(namespace: str, name: str) -> str:
    """Return the path to create evictions of a Pod."""
    return f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(name, safe='')}/eviction"


def eviction_of(namespace: str, name: str, uid: str) -> str:
    """Return the Eviction of a Pod as JSON; without a UID, of any Pod with the name."""
    values: dict[str, object] = {"metadata": {"name": name, "namespace": namespace}}
    if uid:
        values["deleteOptions"] = {"preconditions": {"uid": uid}}
    return json.dumps({"apiVersion": "policy/v1", "kind": "Eviction", **values}, separators=(",", ":"))
