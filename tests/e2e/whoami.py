"""Who the API server believes `kubectl spread` to be, as JSON: a program for tests, for the plugin itself never asks.

It takes the plugin's flags and goes the plugin's way to the server; the last step, a SelfSubjectReview, is its own.
"""

import json
from typing import cast

import typer
from msgspec.structs import replace

from kubectl_spread.cli import inputs, output
from kubectl_spread.cli.bool_flags import Command
from kubectl_spread.cli.flags import ConnectionFlags, SchedulerFlags, ScopeFlags, taking_flag_groups
from kubectl_spread.cluster.net.connection import Connection
from kubectl_spread.cluster.net.transport import Request, fetch
from kubectl_spread.commands.source import ClusterSource
from kubectl_spread.errors import SpreadError

_REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
_REQUEST = Request(
    path="/apis/authentication.k8s.io/v1/selfsubjectreviews", what="ask who we are", body=json.dumps(_REVIEW).encode()
)


def whoami(connection: ConnectionFlags, scope: ScopeFlags) -> None:
    """Print the server that is asked, the namespace that is meant, and who the server says is asking."""
    try:
        source = cast("ClusterSource", inputs.source_of(connection, scope, SchedulerFlags()))
        reached = _under_own_name(source.connection)
        review = json.loads(fetch(reached, _REQUEST).body)
    except SpreadError as error:
        raise typer.Exit(output.explain(error)) from error
    answer = {"server": reached.server, "namespace": reached.namespace, "user": review["status"]["userInfo"]}
    output.write(json.dumps(answer))


def _under_own_name(connection: Connection) -> Connection:
    """Return the connection with the User-Agent of a test: the audit log is searched for what the plugin asks."""
    headers = [(name, value) for name, value in connection.headers if name != "User-Agent"]
    return replace(connection, headers=(*headers, ("User-Agent", "whoami")))


if __name__ == "__main__":
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
    app.command(cls=Command)(taking_flag_groups(whoami))
    app()
