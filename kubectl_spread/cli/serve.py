"""``kubectl spread serve``."""

import os
import signal
import threading
from time import sleep
from typing import TYPE_CHECKING, Annotated, cast

from kubectl_spread.cli import flags as groups
from kubectl_spread.cli import inputs, output
from kubectl_spread.cli.flags import Flags, Option
from kubectl_spread.errors import SpreadError, UsageError

if TYPE_CHECKING:
    from kubectl_spread.commands.source import ClusterSource

EPILOG = """
\b
Examples:
  kubectl spread serve -A                        # http://127.0.0.1:8080/ and /audit, /metrics, /healthz
  kubectl spread serve -A --listen :8080         # on all addresses, as in a Pod
  kubectl spread serve -n shop --listen [::1]:0  # one namespace, on a free port that is printed

\b
It follows the cluster with the RBAC verb watch. In a Pod without a kubeconfig it uses the Pod's ServiceAccount. Without
the API server it serves the last answers, and /healthz fails after a minute.
"""
MOST_PORT = 65535


class ServeFlags(Flags):
    """The flags of ``serve`` alone."""

    listen: Annotated[str, Option(metavar="HOST:PORT", help="The address to listen on.")] = "127.0.0.1:8080"


def serve(
    flags: ServeFlags,
    scope: groups.ScopeFlags,
    scheduler: groups.SchedulerFlags,
    connection: groups.ConnectionFlags,
) -> None:
    """Follow a cluster and serve the answers of show and audit as Prometheus metrics and pages."""
    from kubectl_spread.cli.http_server import Server
    from kubectl_spread.commands.serve import Served

    if scheduler.from_:
        raise UsageError("serve and --from cannot be used together", hint="files do not change")
    host, port = _address(flags.listen)
    source = cast("ClusterSource", inputs.source_of(connection, scope, scheduler))
    served = Served(source, inputs.scope_of(scope, source), inputs.scheduler_of(scheduler), output.note)
    try:
        server = Server(host, port, served)
    except (OSError, UnicodeError) as error:
        why = (isinstance(error, OSError) and error.strerror) or str(error)
        raise SpreadError(f"cannot listen on {flags.listen}: {why}", hint="use another --listen") from error
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    output.note(f"serving on http://{f'[{host}]' if ':' in host else host or 'localhost'}:{server.server_port}/")
    served.follow(sleep)


def _address(listen: str) -> tuple[str, int]:
    """Return host and port of ``HOST:PORT``, ``:PORT`` or ``[IPv6]:PORT``."""
    host, colon, port = listen.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not colon or not port.isascii() or not port.isdigit() or int(port) > MOST_PORT or (":" in host and bare == host):
        raise UsageError(f"invalid argument {listen!r} for --listen", hint="want HOST:PORT, such as 127.0.0.1:8080")
    return bare, int(port)
