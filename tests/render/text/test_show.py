"""How workloads lie, as text."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.gaps import UnreadableManifest
from kubectl_spread.render.text.screen import Screen
from kubectl_spread.render.text.show import show_details, show_table
from tests.build import HOSTNAME, ZONE, Object, app, node, pod, spread
from tests.build_workloads import owned, revision, template, workload
from tests.diagnosis.judged import ABC, METADATA, SERVICE, rows_of, web

MISSING = UnreadableManifest(place="list services", why="the selector lacks what Services add")
ON_ZONES = spread(ZONE, selector=app("web"))


def table_of(objects: Sequence[Object], *, wide: bool = False, headers: bool = True) -> list[str]:
    """Return the lines of the table of all workloads."""
    report = SkewReport(metadata=METADATA, items=rows_of(objects))
    return show_table(report, wide=wide, headers=headers).splitlines()


def rollout() -> list[Object]:
    """Return a Deployment whose new revision has another maxSkew than its old one, which still runs."""
    old, new = template(ON_ZONES), template(spread(ZONE, selector=app("web"), maxSkew=2))
    hash_ = {"pod-template-hash": "h1"}
    running = owned("w", "ReplicaSet", "web-h1", on="a1", labels=hash_, topologySpreadConstraints=[ON_ZONES])
    sets = [revision("web", 1, pods=old), revision("web", 2, pods=new)]
    return [*ABC, workload("Deployment", "web", pods=new), *sets, running]


SPREAD = {"topologySpreadConstraints": [ON_ZONES]}


class TestShowTable:
    """A row for each workload and constraint."""

    def test_a_row_says_what_kubectl_would(self) -> None:
        made = workload("Deployment", "web", pods=template(spread("zone", selector=app("web"))))
        nodes = [node(f"{zone}1", labels={"zone": zone}) for zone in "abc"]
        assert table_of([*nodes, made, *web("a1", "b1")]) == [
            "NAMESPACE   WORKLOAD         KEY    WHEN            MAX-SKEW   SKEW   STATUS   DOMAINS",
            "default     deployment/web   zone   DoNotSchedule   1          1      OK       a:1 b:1 c:0",
        ]

    def test_wide_adds_columns(self) -> None:
        made = workload("Deployment", "web", pods=template(ON_ZONES))
        header, row = table_of([*ABC, made, *web("a1", "b1")], wide=True)
        assert header.split()[6:] == ["PODS", "READY", "PENDING", "STATUS", "DOMAINS", "SELECTOR", "NEXT", "HEADROOM"]
        assert "2 (0 own)" in row
        assert row.endswith("0/1     0         OK       a:1 b:1 c:0   app=web    c1     <none>")

    def test_wide_counts_the_pods_that_run_and_that_wait(self) -> None:
        made = workload("StatefulSet", "web", pods=template(ON_ZONES), replicas=3)
        pods = [owned(f"web-{n}", "StatefulSet", "web", on=on, **SPREAD) for n, on in enumerate(("a1", "b1", ""))]
        _, row = table_of([*ABC, made, *pods], wide=True)
        assert row.split()[7:9] == ["2/3", "1"]

    def test_a_reason_that_two_rows_of_a_workload_share_stands_once(self) -> None:
        twice = template(ON_ZONES, spread(HOSTNAME, selector=app("web")), resources={"requests": {"cpu": "99"}})
        _, first, second = table_of([*ABC, workload("Deployment", "web", pods=twice, replicas=1)])
        assert "cpu" in first
        assert second.endswith("  as above")

    def test_headers_may_be_left_out(self) -> None:
        made = workload("Deployment", "web", pods=template(ON_ZONES))
        assert len(table_of([*ABC, made], headers=False)) == 1

    def test_many_domains_are_summed_up(self) -> None:
        made = workload("Deployment", "web", pods=template(spread(HOSTNAME, selector=app("web"))))
        (_, row) = table_of([*(node(f"n{i}") for i in range(6)), made, *web("n1", "n1")])
        assert row.endswith("n1:2, 5 other nodes: 0   skew 2, maxSkew 1")

    def test_many_different_counts_are_a_range(self) -> None:
        made = workload("Deployment", "web", pods=template(spread(HOSTNAME, selector=app("web"))))
        nodes = [node(f"n{i}") for i in range(7)]
        (_, row) = table_of([*nodes, made, *web(*(f"n{i}" for i in range(7) for _ in range(i)))])
        assert row.endswith("n6:6, 6 other nodes: 0..5   skew 6, maxSkew 1")

    def test_the_empty_value_is_shown(self) -> None:
        made = workload("Deployment", "web", pods=template(ON_ZONES))
        (_, row) = table_of([node("x", zone=""), made])
        assert '"":0' in row

    def test_revisions_are_told_apart(self) -> None:
        workloads = [row.split()[1:3] for row in table_of(rollout())[1:]]
        assert workloads == [["deployment/web", "(h2)"], ["deployment/web", "(h1)"]]

    def test_what_the_answer_does_not_rest_on_stands_below(self) -> None:
        report = SkewReport(metadata=METADATA, items=(), incomplete=(MISSING,))
        assert show_table(report, wide=False, headers=True) == (
            "incomplete: list services (unreadable): the selector lacks what Services add.\n"
        )

    def test_nothing_is_nothing(self) -> None:
        assert show_table(SkewReport(metadata=METADATA, items=()), wide=False, headers=True) == ""

    def test_defaults_are_marked(self) -> None:
        plain = workload("Deployment", "plain", pods=template(labels={"app": "web"}))
        report = SkewReport(metadata=METADATA, items=rows_of([*ABC, SERVICE, plain], defaults=True))
        assert f"{HOSTNAME} (default)" in show_table(report, wide=False, headers=True)

    def test_a_template_that_names_its_node_is_scheduled_by_nobody(self) -> None:
        made = workload("Deployment", "web", pods=template(ON_ZONES, nodeName="a1"))
        _, row = table_of([*ABC, made], wide=True)
        assert "a1 (by spec.nodeName)" in row


def several(even: int, crowded: int) -> SkewReport:
    """Return how so many workloads are spread whose Pods are in all zones, and so many whose Pods are in one."""
    made = [(f"even-{n}", ("a1", "b1", "c1")) for n in range(even)]
    made += [(f"crowded-{n}", ("a1", "a1", "a1")) for n in range(crowded)]
    objects = list(ABC)
    for name, nodes in made:
        constraint = spread(ZONE, selector=app(name))
        objects.append(workload("StatefulSet", name, pods=template(constraint, labels={"app": name}), replicas=3))
        objects += (
            owned(
                f"{name}-{n}", "StatefulSet", name, on=on, labels={"app": name}, topologySpreadConstraints=[constraint]
            )
            for n, on in enumerate(nodes)
        )
    return SkewReport(metadata=METADATA, items=rows_of(objects))


class TestHeight:
    """A table that is longer than the terminal."""

    @staticmethod
    def lines(report: SkewReport, height: int, *, headers: bool = True) -> list[str]:
        screen = Screen(width=120, height=height, colors=True)
        return show_table(report, screen, wide=False, headers=headers, totals=True).splitlines()

    @pytest.mark.parametrize("height", range(6, 17))
    def test_rows_that_are_ok_are_left_out_and_counted(self, height: int) -> None:
        report = several(even=9, crowded=2)
        lines, whole = self.lines(report, height), self.lines(report, 50)
        assert len(lines) == max(len(whole) - 8, min(height - 1, len(whole)))
        assert sum("Violated" in line for line in lines[:-1]) == 2
        left_out = 9 - sum("OK\x1b" in line for line in lines)
        said = [f"and {left_out} more row{'s, all' if left_out > 1 else ','} OK; -o wide shows all"]
        assert [line for line in lines if " more row" in line] == said * (left_out > 0)
        assert lines[-1] == "11 constraints of 11 workloads: 2 Violated, 9 OK."

    def test_problems_are_never_left_out(self) -> None:
        lines = self.lines(several(even=2, crowded=9), 6)
        assert (sum("Violated" in line for line in lines[:-1]), sum("OK\x1b" in line for line in lines)) == (9, 0)

    def test_some_rows_stand_on_the_shortest_terminal(self) -> None:
        assert sum("OK\x1b" in line for line in self.lines(several(even=9, crowded=0), 2)) == 2

    @pytest.mark.parametrize(("height", "headers"), [(0, True), (6, False)])
    def test_all_rows_stand_in_a_pipe_and_without_headers(self, height: int, *, headers: bool) -> None:
        report = several(even=9, crowded=1)
        assert sum("OK\x1b" in line for line in self.lines(report, height, headers=headers)) == 9


class TestShowDetails:
    """The domain table, ghosts and the next node of each row."""

    def details(self, objects: Sequence[Object], *, by_node: bool = False, colors: bool = False) -> str:
        report = SkewReport(metadata=METADATA, items=rows_of(objects), incomplete=(MISSING,))
        return show_details(report, Screen(colors=colors), wide=False, by_node=by_node)

    def test_the_next_replica_is_told_once_a_workload(self) -> None:
        made = workload("Deployment", "web", pods=template(ON_ZONES, spread(HOSTNAME, selector=app("web"))))
        on_zones, on_nodes = self.details([*ABC, made]).split("\n\n")
        assert "Next replica: " not in on_zones
        assert "Next replica: " in on_nodes

    def test_an_older_revision_has_no_next_replica(self) -> None:
        newer, older = self.details(rollout()).split("\n\n")
        assert newer.startswith("default/deployment/web revision h2: OK")
        assert "Next replica: " in newer
        assert older.startswith("default/deployment/web revision h1: OK")
        assert "Next replica: " not in older

    def test_a_node_that_cannot_take_the_pod_does_not_say_yes(self) -> None:
        made = workload("Deployment", "web", pods=template(ON_ZONES))
        nodes = [node("a1", zone="a"), node("a2", zone="a", unschedulable=True)]
        lines = self.details([*nodes, made], by_node=True).splitlines()
        assert [line.split(maxsplit=4)[1::3] for line in lines if line.startswith("a ")] == [
            ["a1", "yes"],
            ["a2", "no: NodeUnschedulable rejects this node"],
        ]

    def test_only_the_status_is_coloured(self) -> None:
        made = workload("Deployment", "web", pods=template(ON_ZONES))
        assert "default/deployment/web: \x1b[32mOK\x1b[0m\n" in self.details([*ABC, made], colors=True)


class TestNext:
    """Where the domain table and the lines below it say that the next Pod goes."""

    @staticmethod
    def details(*objects: Object) -> dict[str, str]:
        """Return domain → NEXT, and the lines below the table, each by what is before its colon."""
        report = SkewReport(metadata=METADATA, items=rows_of([*ABC, *objects]))
        lines = show_details(report, wide=False, by_node=False).splitlines()
        start = next(n for n, line in enumerate(lines) if line.startswith("DOMAIN"))
        at = lines[start].index("NEXT")
        return {line.split()[0]: line[at:] for line in lines[start + 1 : start + 4]} | {
            line.partition(": ")[0]: line.partition(": ")[2] for line in lines[start + 4 :]
        }

    def test_a_domain_in_which_the_scheduler_makes_room_takes_the_pod(self) -> None:
        full = [pod(f"low-{name}", on=name, requests={"cpu": "8"}, priority=0) for name in ("a1", "a2", "b1")]
        kept = pod("high", on="c1", requests={"cpu": "8"}, priority=9)
        told = self.details(
            *full,
            kept,
            pod("web", labels={"app": "web"}, requests={"cpu": "1"}, priority=5, topologySpreadConstraints=[ON_ZONES]),
        )
        assert (told["a"], told["b"]) == ("yes, by preemption", "yes, by preemption")
        assert told["c"] == "no: 1 cpu requested, 0 of 8 free"
        assert told["web is Pending"] == "it can go to a1, a2, b1 by preemption."

    def test_no_domain_where_the_pod_is_refused_before_any_node_is_looked_at(self) -> None:
        volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "absent"}}]
        told = self.details(pod("web", labels={"app": "web"}, volumes=volumes, topologySpreadConstraints=[ON_ZONES]))
        assert {told[zone] for zone in "abc"} == {"no: no node is evaluated"}

    def test_only_the_node_that_a_template_names(self) -> None:
        told = self.details(
            workload("Deployment", "web", pods=template(ON_ZONES, nodeName="b1"), replicas=3), *web("b1")
        )
        assert told["b"] == "yes, by spec.nodeName"
        assert (told["a"], told["c"]) == ("no: spec.nodeName is another node",) * 2

    @pytest.mark.parametrize(
        ("fields", "minimum"),
        [
            ({}, "each Pod counts only its own node."),
            (
                {"minDomains": 2},
                "0, because minDomains requires 2 domains and only 1 counts. Each Pod counts only its own node.",
            ),
            ({"nodeAffinityPolicy": "Ignore"}, "0 (b, c)."),
        ],
    )
    def test_a_daemon_has_no_minimum_but_that_of_its_own_node(self, fields: Object, minimum: str) -> None:
        pods = template(spread(ZONE, selector=app("web"), **fields))
        daemon = owned(
            "web-a", "DaemonSet", "web", on="a1", topologySpreadConstraints=pods["spec"]["topologySpreadConstraints"]
        )
        assert self.details(workload("DaemonSet", "web", pods=pods), daemon)["Minimum"] == minimum
