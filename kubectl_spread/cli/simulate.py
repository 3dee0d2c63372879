"""``kubectl spread simulate``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kubectl_spread.cli import inputs, output
from kubectl_spread.cli.flags import (
    AutoscalerFlags,
    ConnectionFlags,
    Defaults,
    Flags,
    Option,
    SchedulerFlags,
    ScopeFlags,
    SimulateOutput,
)

if TYPE_CHECKING:
    from kubectl_spread.contract.simulate import SimulateReport

EPILOG = """
\b
Examples:
  kubectl spread simulate --drain n1                          # what a drain does
  kubectl spread simulate --lose topology.kubernetes.io/zone=c -A
  kubectl spread simulate --scale deployment/web=12           # can all replicas be scheduled?
  kubectl spread simulate --cordon n1 --restart deployment/web
  kubectl spread simulate --apply web.yaml                    # does the rollout finish?
  kubectl spread simulate -f scenario.yaml -o json             # steps: [{drain: n1}, ...]
  kubectl spread simulate --drain n1 --from dump/ -A          # read a cluster-info dump

\b
Steps run in the order given. Each starts from the result of the step before it. A node may be named as node/NAME, or
by its short name as in the tables. Nothing in the cluster changes. If the scheduler or a controller has equal choices,
the simulation runs several times, and ranges show the results.
"""


def _step(metavar: str, about: str) -> Any:  # noqa: ANN401 - as typer.Option returns it
    return Option(metavar=metavar, help=f"{about} (repeatable).")


class SimulateFlags(Flags):
    """The flags of ``simulate`` alone."""

    drain: Annotated[list[str] | None, _step("NODE", "Drain a node as kubectl does")] = None
    remove: Annotated[list[str] | None, _step("NODE", "Drain and delete a node")] = None
    lose: Annotated[list[str] | None, _step("NODE|KEY=VALUE", "Make a node or all nodes with a label unreachable")] = (
        None
    )
    return_: Annotated[list[str] | None, _step("NODE|KEY=VALUE", "Make unreachable nodes reachable again")] = None
    cordon: Annotated[list[str] | None, _step("NODE", "Cordon a node")] = None
    uncordon: Annotated[list[str] | None, _step("NODE", "Uncordon a node")] = None
    add_node: Annotated[list[str] | None, _step("LIKE[=N]", "Add N nodes like an existing one, default 1")] = None
    scale: Annotated[list[str] | None, _step("[NS/]TYPE/NAME=N", "Scale a workload")] = None
    restart: Annotated[
        list[str] | None, _step("[NS/]TYPE/NAME", "Restart a workload as kubectl rollout restart does")
    ] = None
    delete: Annotated[list[str] | None, _step("[NS/]pod/NAME", "Delete a Pod")] = None
    apply: Annotated[list[str] | None, _step("FILE", "Apply a manifest as kubectl does")] = None
    filename: Annotated[
        list[str] | None, Option("--filename", "-f", metavar="FILE", help="File that lists steps (repeatable).")
    ] = None
    force: Annotated[
        bool,
        Option(help="Drains also evict Pods that no controller recreates, and --delete does not wait for the kubelet."),
    ] = False
    disable_eviction: Annotated[bool, Option(help="Delete Pods instead of evicting them. Budgets do not apply.")] = (
        False
    )
    pod_selector: Annotated[str, Option(metavar="SELECTOR", help="Drain only the Pods with these labels.")] = ""
    # Who pastes the flags of kubectl drain gets an answer.
    ignore_daemonsets: Annotated[bool, Option(help="Has no effect: every simulated drain uses this flag.")] = False
    delete_emptydir_data: Annotated[bool, Option(help="Has no effect: every simulated drain uses this flag.")] = False
    all: Annotated[bool, Option(help="Also print constraints that do not change.")] = False
    defaults: Defaults = False
    in_order: tuple[tuple[str, str], ...] = ()


def simulate(
    flags: SimulateFlags,
    scope: ScopeFlags,
    printing: SimulateOutput,
    scheduler: SchedulerFlags,
    autoscaler: AutoscalerFlags,
    connection: ConnectionFlags,
) -> None:
    """Simulate what happens to Pods when nodes drain, fail or are added, or workloads scale or roll out."""
    from kubectl_spread.commands import exit_codes
    from kubectl_spread.commands import simulate as command
    from kubectl_spread.labels import parse_selector
    from kubectl_spread.render.outline import Extent
    from kubectl_spread.render.outline.simulate import simulate_outline
    from kubectl_spread.render.text import text_on
    from kubectl_spread.simulation.steps import Verb

    def text(report: SimulateReport, *, wide: bool) -> str:
        screen = output.screen_for(printing, asked.namespace)
        whole = wide or flags.all
        return text_on(screen, partial(simulate_outline, report), Extent(wide=whole, brief=not whole))

    printed = output.printer(text, printing)
    source = inputs.source_of(connection, scope, scheduler)
    options = command.SimulateOptions(
        steps=tuple((flag, value) for flag, value in flags.in_order if flag in {command.FROM_FILE, *Verb}),
        force=flags.force,
        disable_eviction=flags.disable_eviction,
        pod_selector=parse_selector(flags.pod_selector),
        namespace=scope.namespace or source.namespace,
        enforce_namespace=bool(scope.namespace),
        defaults=flags.defaults,
        autoscalers=inputs.autoscalers_of(autoscaler),
    )
    asked, rules, stdin = inputs.scope_of(scope, source), inputs.scheduler_of(scheduler), inputs.standard_input()
    report = command.simulate(source, asked, options, rules, stdin=stdin)
    output.write(printed(report))
    raise typer.Exit(exit_codes.of_simulate(report))
