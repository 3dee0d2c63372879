"""Objects as they are named on a command line."""

from __future__ import annotations

import pytest

from kubectl_spread.commands.scope import Named, parse_names
from kubectl_spread.errors import UsageError


@pytest.mark.parametrize(
    ("arguments", "parsed"),
    [
        ((), Named()),
        (("all",), Named()),
        (("deploy",), Named(("deployment",))),
        (("Deployments.apps",), Named(("deployment",))),
        (("deployments.v1.apps",), Named(("deployment",))),
        (("pods.v1.",), Named(("pod",))),
        (("deploy,sts,deployment",), Named(("deployment", "statefulset"))),
        (("sts", "a", "b"), Named(("statefulset",), (("statefulset", "a"), ("statefulset", "b")))),
        (("ds,cj", "a"), Named(("daemonset", "cronjob"), (("daemonset", "a"), ("cronjob", "a")))),
        (("ro/a", "po/b"), Named(names=(("rollout", "a"), ("pod", "b")))),
        (("a", "b"), Named(names=(("", "a"), ("", "b")))),
        (("deploy/a", "b"), Named(names=(("deployment", "a"), ("", "b")))),
        (("shop/a", "shop/sts/b"), Named(names=(("", "a"), ("statefulset", "b")), namespace="shop")),
        (("RayCluster.ray.io/a",), Named(names=(("raycluster", "a"),))),
    ],
)
def test_forms_of_naming(arguments: tuple[str, ...], parsed: Named) -> None:
    assert parse_names(arguments) == parsed


@pytest.mark.parametrize(
    "arguments",
    [
        ("svc",),
        ("svc/x",),
        ("node/a",),
        ("nodes",),
        ("deploy.batch",),
        ("deploy,svc",),
        ("deploy/",),
        ("/x",),
        ("deploy/a", "sts"),
        ("a/b", "c"),
        ("a/b", "c/d"),
        ("w/x/sts/z",),
        ("",),
    ],
)
def test_forms_that_make_no_sense(arguments: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        parse_names(arguments)


def test_a_misspelt_type_is_asked_about() -> None:
    with pytest.raises(UsageError) as caught:
        parse_names(("deploymnt/web",))
    assert caught.value.hint == "did you mean deployment?"
