"""The flags that commands share, in groups.

A command declares a parameter such as ``connection: ConnectionFlags``; on the command line, each field of the group is
a flag. Completion goes by the metavar of a flag.
"""

import inspect
from collections.abc import Callable, Collection
from typing import Annotated, Any, ClassVar, TypeAlias, get_type_hints

import typer
from typer.models import OptionInfo

from kubectl_spread.cli import formats
from kubectl_spread.errors import UsageError

Option = typer.Option
IN_ORDER = "in_order"  # The field of a group that is no flag: the repeatable flags in the order given
HELP_NAMES = {"help_option_names": ["-h", "--help"]}


def _parse_level(text: str | int) -> int:
    """Return the number of ``-v 6``; Typer also passes the default, which is a number."""
    try:
        return int(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is not a number") from error


class Flags:
    """A group of flags, each an annotated attribute of the class with its default.

    It is no dataclass: each of the twenty groups would take a millisecond at every start.
    """

    def __init__(self, **given: object) -> None:
        if unknown := given.keys() - set(self.names()):
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(unknown))}")
        vars(self).update(given)
        self.check()

    def __repr__(self) -> str:
        """Return the given flags; test ids need it to be the same in every process."""
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the flags, inherited ones first."""
        annotated = (vars(each).get("__annotations__", {}).items() for each in reversed(cls.__mro__))
        # A flag that a group redefines keeps its place.
        return tuple({name: None for hints in annotated for name, hint in hints if "ClassVar" not in str(hint)})

    def check(self) -> None:
        """Check the values: UsageError if one is invalid."""


class LogFlags(Flags):
    """What is logged on standard error."""

    verbosity: Annotated[
        int,
        Option(
            "--v",
            "-v",
            metavar="LEVEL",
            parser=_parse_level,
            help="From level 1 on, log requests and what is read on standard error.",
        ),
    ] = 0


class ConnectionFlags(LogFlags):
    """kubectl's flags for reaching a cluster."""

    kubeconfig: Annotated[str, Option(metavar="FILE", help="Path to the kubeconfig file.")] = ""
    context: Annotated[list[str] | None, Option(metavar="CONTEXT", help="The kubeconfig context to use.")] = None
    cluster: Annotated[str, Option(metavar="CLUSTER", help="The kubeconfig cluster to use.")] = ""
    user: Annotated[str, Option(metavar="USER", help="The kubeconfig user to use.")] = ""
    server: Annotated[str, Option("--server", "-s", help="Address of the API server.")] = ""
    tls_server_name: Annotated[str, Option(help="Server name for certificate validation.")] = ""
    insecure_skip_tls_verify: Annotated[bool, Option(help="Do not verify the server's certificate.")] = False
    certificate_authority: Annotated[str, Option(metavar="FILE", help="Path to a CA certificate file.")] = ""
    client_certificate: Annotated[str, Option(metavar="FILE", help="Path to a client certificate file.")] = ""
    client_key: Annotated[str, Option(metavar="FILE", help="Path to a client key file.")] = ""
    token: Annotated[str, Option(help="Bearer token to authenticate with.")] = ""
    username: Annotated[str, Option(help="User name for basic authentication.")] = ""
    password: Annotated[str, Option(help="Password for basic authentication.")] = ""
    as_: Annotated[str, Option(help="User to impersonate.")] = ""
    as_uid: Annotated[str, Option(help="UID to impersonate.")] = ""
    as_groups: Annotated[list[str] | None, Option("--as-group", help="Group to impersonate (repeatable).")] = None
    as_user_extra: Annotated[list[str] | None, Option(help="Extra field to impersonate, KEY=VALUE (repeatable).")] = (
        None
    )
    request_timeout: Annotated[
        str, Option(help="Time limit for one request, such as 10s. The default is ten minutes.")
    ] = "0"
    cache_dir: Annotated[str, Option(help="Accepted for compatibility with kubectl. Nothing is cached.")] = ""
    disable_compression: Annotated[bool, Option(help="Do not request compressed responses.")] = False


class ClustersFlags(ConnectionFlags):
    """kubectl's flags for reaching a cluster, or several."""

    all_contexts: Annotated[
        bool,
        Option(help="Read the clusters of all contexts side by side. --context A,B reads those of several contexts."),
    ] = False


class ScopeFlags(Flags):
    """Which objects are meant."""

    namespace: Annotated[str, Option("--namespace", "-n", metavar="NAMESPACE", help="The namespace to read.")] = ""
    all_namespaces: Annotated[bool, Option("--all-namespaces", "-A", help="Read all namespaces.")] = False
    selector: Annotated[
        str,
        Option(
            "--selector",
            "-l",
            metavar="SELECTOR",
            help="Report only objects that this label selector matches.",
        ),
    ] = ""

    def check(self) -> None:
        """Refuse namespaces that no report can show, such as bytes that are no text."""
        if not self.namespace.isprintable():
            raise UsageError(f"invalid argument {self.namespace!r} for --namespace", hint="want a namespace's name")


class SchedulerFlags(Flags):
    """The files to read instead of a cluster, and the scheduler whose rules apply."""

    from_: Annotated[
        list[str] | None,
        Option(
            metavar="PATH",
            help="Read files instead of a cluster: JSON, YAML, a directory, a cluster-info dump, or - for standard"
            " input (repeatable).",
        ),
    ] = None
    scheduler_config: Annotated[
        str, Option(metavar="FILE", help="Path to the KubeSchedulerConfiguration of the scheduler.")
    ] = ""
    feature_gates: Annotated[str, Option(metavar="A=true,...", help="Feature gates of the scheduler.")] = ""
    kube_version: Annotated[
        str, Option(metavar="vX.Y", help="Kubernetes release whose rules apply. The default is that of the server.")
    ] = ""


class AutoscalerFlags(Flags):
    """Facts about the cluster's autoscaler that cannot be read."""

    instance_types: Annotated[
        str, Option(metavar="FILE", help="The cloud's instance types, in the JSON format of Karpenter's kwok provider.")
    ] = ""
    karpenter_version: Annotated[
        str, Option(metavar="X.Y", help="Karpenter's release. The default is that of its Deployment.")
    ] = ""


class ReadFlags(Flags):
    """How much of a cluster is read."""

    read: Annotated[
        str,
        Option(
            metavar="auto|all|needed",
            help="How much to read with more than 5,000 Pods. auto reads enough to be certain; needed reads as little"
            " as possible.",
        ),
    ] = "auto"


def check_choice(flag: str, value: str, choices: Collection[str]) -> None:
    """Check the value of a flag: UsageError if it is none of the choices."""
    if value not in choices:
        raise UsageError(f"invalid argument {value!r} for {flag}", hint=f"must be one of: {', '.join(choices)}")


AllFixes: TypeAlias = Annotated[bool, Option(help="Print all fixes, including those that are hidden by default.")]
Defaults: TypeAlias = Annotated[
    bool, Option(help="Include workloads that have only the cluster's default constraints.")
]
FixBudget: TypeAlias = Annotated[
    float | None,
    Option(
        metavar="SECONDS",
        min=0,
        help="Time limit for the whole search for fixes. The default is 30, or 2.5 for more than 1,000 nodes.",
    ),
]


class StructuredOutput(Flags):
    """The output format of commands that report nothing about a cluster."""

    output: Annotated[
        str,
        Option("--output", "-o", metavar="|".join(formats.STRUCTURED), help="Output format.", show_default=False),
    ] = ""


class OutputFlags(Flags):
    """How the answer is printed; each kind of the commands' reports has its own formats."""

    report: ClassVar[str]
    output: str = "table"
    no_headers: Annotated[bool, Option(help="Do not print table headers.")] = False
    color: Annotated[str, Option(metavar="auto|always|never", help="When to use colors.")] = "auto"

    def __init_subclass__(cls, *, report: str) -> None:
        """Give the group the formats of its report."""
        option = Option("--output", "-o", metavar="|".join(formats.names_for(report)), help="Output format.")
        cls.report, cls.__annotations__["output"] = report, Annotated[str, option]


class ShowOutput(OutputFlags, report=formats.SHOW):
    """How ``show`` prints its answer."""


class PendingOutput(OutputFlags, report=formats.WHY_PENDING):
    """How ``why-pending`` prints its answer."""


class CheckOutput(OutputFlags, report=formats.CHECK):
    """How ``check`` prints its answer."""


class AuditOutput(OutputFlags, report=formats.AUDIT):
    """How ``audit`` prints its answer."""


class SimulateOutput(OutputFlags, report=formats.SIMULATE):
    """How ``simulate`` prints its answer."""


class RebalanceOutput(OutputFlags, report=formats.REBALANCE):
    """How ``rebalance`` prints its answer."""


def taking_values() -> frozenset[str]:
    """Return the flags of all commands, as they are written, that take a value."""
    groups = (ScopeFlags, ReadFlags, AutoscalerFlags, ShowOutput, SchedulerFlags, ConnectionFlags)
    hints = (hint for group in groups for name, hint in _annotations(group).items())
    options = (hint.__metadata__[0] for hint in hints if hint.__origin__ is not bool)
    # In an annotated option, Typer stores the first name as the default.
    names = (name for option in options for name in (option.default, *option.param_decls))
    return frozenset(name for name in names if isinstance(name, str) and name.startswith("-"))


def taking_flag_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the flags themselves as parameters, instead of the groups of flags."""
    groups: dict[str, type[Flags]] = get_type_hints(command)
    groups.pop("return")
    kind, empty = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.empty
    parameters = [
        inspect.Parameter(name, kind, default=getattr(group, name, empty), annotation=hint)
        for group in groups.values()
        for name, hint in _annotations(group).items()
    ]

    def run(**values: Any) -> None:  # noqa: ANN401 - whatever the flags' types are
        taken = {name: group(**{flag: values.pop(flag) for flag in group.names()}) for name, group in groups.items()}
        command(**taken)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
    return run


def _annotations(group: type[Flags]) -> dict[str, Any]:
    """Return field → annotation of the flags of a group; an option without a name is called as its field."""
    hints = get_type_hints(group, include_extras=True)
    found = {name: hints[name] for name in group.names() if name != IN_ORDER}
    for name, hint in found.items():
        option = hint.__metadata__[0]
        if isinstance(option, OptionInfo) and option.default is ... and not option.param_decls:
            option.param_decls = (f"--{name.strip('_').replace('_', '-')}",)
    return found
