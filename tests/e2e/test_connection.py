"""kubectl and `kubectl spread` side by side: the same server, user, uid, groups, extra and namespace, or both refuse.

Each row of `connections.CASES` is one test. kubectl says who it is by `auth whoami` and which namespace it means by the
list that `events` asks for. We are asked by `whoami`, which goes the plugin's way to the server; where nobody gets
through, by the plugin itself: one line, and the exit code.
"""

import json
import os
import pty
import re
import ssl
import string
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cluster import relays
from tests.cluster.api_server import ApiServer, Response, Seen, serving
from tests.controlplane.api import Object
from tests.controlplane.binaries import Binaries
from tests.controlplane.cluster import ControlPlane, Options, control_plane
from tests.e2e.connection_files import (
    Authorities,
    embedded,
    in_pod,
    values,
    without_override,
    write_case,
    write_files,
)
from tests.e2e.connections import ALICE, BOB, CASES, IN_POD, TELLING, WITHOUT_OVERRIDE, Case

pytestmark = pytest.mark.e2e

_TIMEOUT_S = 120.0
_WHOAMI = (sys.executable, str(Path(__file__).with_name("whoami.py")))
_SPREAD = (str(Path(sysconfig.get_path("scripts"), "kubectl-spread")), "show")
_KLOG = re.compile(r"[IWEF]\d{4} ")
_EVENTS = re.compile(r'url="(?P<server>https?://\S+?)/api/v1/namespaces/(?P<namespace>[^/]+)/events')


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """How a program ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def error(self) -> str:
        """What it said, without kubectl's log."""
        return "\n".join(line for line in self.stderr.splitlines() if line.strip() and not _KLOG.match(line))


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """A control plane and what stands before it."""

    plane: ControlPlane
    kubectl: Path
    authorities: Authorities
    token: str
    variables: Mapping[str, str]


@pytest.fixture(scope="module")
def world(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A control plane that knows alice, bob, carol and the robot, under two addresses and behind proxies."""
    authorities = Authorities()
    clients = tmp_path_factory.mktemp("authority") / "clients.crt"
    clients.write_bytes(authorities.clients.cert_pem.bytes())
    options = Options(users=(ALICE, BOB), scheduler=False, controllers=(), client_authority=clients)
    with ExitStack() as running:
        plane = running.enter_context(control_plane(options, binaries=binaries))
        token = _robots_token(plane)
        variables = values(plane, authorities) | {"TOKEN": token}
        variables |= running.enter_context(_surroundings(plane, authorities, token))
        yield World(plane=plane, kubectl=binaries.kubectl, authorities=authorities, token=token, variables=variables)


def _robots_token(plane: ControlPlane) -> str:
    """Return a token of a ServiceAccount."""
    path = "/api/v1/namespaces/default/serviceaccounts"
    api = plane.client().api
    api.request("POST", path, body={"metadata": {"name": "robot"}})
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    issued = api.request("POST", f"{path}/robot/token", body=body)
    return str(issued["status"]["token"])


@contextmanager
def _surroundings(plane: ControlPlane, authorities: Authorities, token: str) -> Iterator[Mapping[str, str]]:
    """Yield where relays, proxies and the provider of id-tokens listen."""
    target = plane.server.removeprefix("https://")
    with (
        relays.relay(target, relays.directly) as other,
        relays.relay(target, relays.silently) as silent,
        relays.relay(target, relays.http_connect) as proxy,
        relays.relay(target, relays.refusing_connect) as gate,
        relays.relay(target, relays.socks5) as socks,
        _identity_provider(authorities, token) as issuer,
    ):
        yield {
            "OTHER": f"https://{other.address}",
            "SILENT": f"https://{silent.address}",
            "PROXY": f"http://{proxy.address}",
            "PROXY_ADDRESS": proxy.address,
            "GATE": f"http://{gate.address}",
            "SOCKS": f"socks5://{socks.address}",
            "ISSUER": issuer.url,
            "ISSUER_CA": embedded(authorities.strangers.cert_pem.bytes()),
        }


@contextmanager
def _identity_provider(authorities: Authorities, token: str) -> Iterator[ApiServer]:
    """Yield a provider of id-tokens, which gives the API server's own for the refresh token "once"."""

    def answer(seen: Seen) -> Response:
        if seen.path != "/token":
            return Response(body={"issuer": running.url, "token_endpoint": f"{running.url}/token"})
        if b"refresh_token=once" not in seen.body:
            return Response(status=400, body={"error": "invalid_grant"})
        return Response(body={"access_token": "a", "token_type": "Bearer", "id_token": token, "refresh_token": "once"})

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authorities.strangers.issue_cert("127.0.0.1").configure_cert(context)
    with serving(answer, context) as running:
        yield running


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """The folder of a case, and how programs are run there."""

    case: Case
    world: World
    folder: Path

    @property
    def variables(self) -> Mapping[str, str]:
        """What the variables of the case stand for."""
        return {**self.world.variables, "HERE": str(self.folder)}

    def filled(self, text: str) -> str:
        """Return the text with its variables replaced."""
        return string.Template(text).safe_substitute(self.variables)

    def run(self, name: str, *command: str | Path) -> Ended:
        """Return how a program with the case's flags ended; ``name`` tells its runs apart for plugins."""
        words = [*self._prefix(), *map(str, command), *map(self.filled, self.case.flags)]
        environment = self._environment(name)
        if self.case.typed:
            return _at_terminal(words, folder=self.folder, env=environment, typed=self.case.typed)
        ended = subprocess.run(
            words,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
        return Ended(code=ended.returncode, stdout=ended.stdout, stderr=ended.stderr)

    def _prefix(self) -> Sequence[str]:
        """Return what stands before each command."""
        match self.case.inside:
            case "":
                return ()
            case inside if inside == IN_POD:
                return in_pod(self.folder)
            case _:
                return without_override()

    def _environment(self, name: str) -> dict[str, str]:
        """Return the environment of a program: nothing of whoever runs the tests."""
        given = {"PATH": os.defpath, "HOME": str(self.folder), "LANG": "C.UTF-8", "STATE": str(self.folder / name)}
        if self.case.kubeconfig:
            given["KUBECONFIG"] = self.filled(self.case.kubeconfig)
        return given | {variable: self.filled(value) for variable, value in self.case.env.items()}


def _at_terminal(words: Sequence[str], *, folder: Path, env: dict[str, str], typed: str) -> Ended:
    """Return how a program ended that a person ran at a terminal, with what the terminal showed as its error."""
    person, terminal = pty.openpty()
    os.write(person, f"{typed}\n".encode())
    with subprocess.Popen(
        words, cwd=folder, env=env, stdin=terminal, stdout=subprocess.PIPE, stderr=terminal, start_new_session=True
    ) as running:
        os.close(terminal)
        with ThreadPoolExecutor() as threads:
            shown = threads.submit(_shown, person)
            stdout, _ = running.communicate(timeout=_TIMEOUT_S)
            stderr = shown.result()
    os.close(person)
    return Ended(code=running.returncode, stdout=stdout.decode(), stderr=stderr)


def _shown(terminal: int) -> str:
    """Return what is shown at a terminal until the last program leaves it."""
    pieces = []
    with suppress(OSError):  # what Linux says of a terminal that everybody has left
        while piece := os.read(terminal, 4096):
            pieces.append(piece)
    return b"".join(pieces).decode(errors="replace").replace("\r\n", "\n")


@pytest.fixture
def placed(world: World, tmp_path: Path) -> Callable[[Case], Place]:
    """Return a function that lays out the files of a case."""

    def place(case: Case) -> Place:
        made = Place(case=case, world=world, folder=tmp_path)
        write_files(tmp_path, plane=world.plane, authorities=world.authorities, token=world.token)
        write_case(case, tmp_path, made.variables)
        if case.inside:
            _need(made)
        return made

    return place


def _need(place: Place) -> None:
    """Skip a case for which this machine has no means."""
    if place.case.inside == WITHOUT_OVERRIDE:
        (place.folder / "config").chmod(0)
    if place.run("probe", "true").code:
        pytest.skip(f"this machine cannot run a program {place.case.inside}: {place.run('probe', 'true').stderr}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Reached:
    """Where a program came out, and as whom."""

    server: str
    namespace: str
    user: Object


def by_kubectl(place: Place) -> tuple[Reached | None, Ended]:
    """Return where kubectl comes out, None where it refuses, and how it ended."""
    ended = place.run("kubectl-whoami", place.world.kubectl, "auth", "whoami", "--output=json", "--v=6")
    if ended.code:
        return None, ended
    events = place.run("kubectl-events", place.world.kubectl, "events", "--v=6")
    asked = _EVENTS.search(events.stderr)
    assert asked, events.stderr
    user = json.loads(ended.stdout)["status"]["userInfo"]
    return Reached(server=asked["server"], namespace=asked["namespace"], user=user), ended


def by_us(place: Place) -> tuple[Reached | None, Ended]:
    """Return where we come out, None where we are to refuse, and how we ended: there it is the plugin that is run."""
    if not place.case.who:
        return None, place.run("spread", *_SPREAD)
    ended = place.run("our-whoami", *_WHOAMI)
    return None if ended.code else Reached(**json.loads(ended.stdout)), ended


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_both_come_out_at_the_same_place(case: Case, placed: Callable[[Case], Place]) -> None:
    place = placed(case)
    theirs, kubectl = by_kubectl(place)
    ours, spread = by_us(place)
    sys.stdout.write(f"kubectl: {theirs or kubectl.error}\nwe:      {ours or spread.error}\n")
    if case.because:
        assert (theirs.user["username"] if theirs else "") == case.kubectl
    else:
        assert ours == theirs, (spread.error, kubectl.error)
    if not case.who:
        _assert_refused(place, spread)
        return
    assert ours, spread.error
    wanted = (place.filled(case.server), case.namespace, case.who)
    assert (ours.server, ours.namespace, ours.user["username"]) == wanted
    assert ("Token: " in spread.stderr) == bool(case.typed)


@pytest.mark.parametrize("case", TELLING.values(), ids=TELLING.keys())
def test_a_plugin_is_told_the_same_by_both(case: Case, placed: Callable[[Case], Place]) -> None:
    place = placed(case)
    place.run("theirs", place.world.kubectl, "auth", "whoami")
    place.run("ours", *_WHOAMI)
    theirs, ours = (json.loads((place.folder / name).read_text()) for name in ("theirs", "ours"))
    assert ours == theirs


def _assert_refused(place: Place, ended: Ended) -> None:
    """Hold the plugin to one line that says what is wrong, and to its exit code."""
    *before, last = ended.error.splitlines() or [""]
    assert last.lower().startswith("error: "), ended.stderr
    for words in place.case.says:
        assert place.filled(words) in last, last
    assert ended.code == place.case.exit_code, ended.stderr
    assert not any(line.startswith("error:") for line in before), ended.stderr
    assert not ended.stdout
