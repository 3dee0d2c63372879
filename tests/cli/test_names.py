"""Objects by as little of their names as tells them apart, and what is said of those that are misspelt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.program import spread

SHOP = ("-n", "shop", "--from", Path(__file__).parents[2] / "examples" / "shop.yaml")
WEB = "web-5d9c7b6f4-x2x5q"


@pytest.mark.parametrize(
    "name", [WEB, f"pod/{WEB}", "web-5d9c7b6f4-x", "web", "deployment/web", "deploy/web", "rs/web-5d9c7b6f4"]
)
def test_the_pod_that_waits_is_meant(name: str) -> None:
    assert [item["name"] for item in spread("why-pending", name, *SHOP, "-o", "json").items] == [WEB]


def test_a_name_that_several_pods_begin_with_is_none() -> None:
    assert spread("why-pending", "api", *SHOP).error.startswith(
        'error: pods "api" not found in namespace "shop"; 4 begin so: api-77cbd69d8-2fjkp, '
    )


def test_a_workload_without_pods_that_wait_says_where_they_are() -> None:
    ended = spread("why-pending", "deploy/cart", *SHOP)
    assert (ended.code, ended.stdout) == (0, "")
    assert [line.rpartition(" ")[2] for line in ended.stderr.splitlines()] == ["node-a1.", "node-a2.", "node-a2."]


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (("show", "deploymnt/web"), "did you mean deployment?"),
        (("show", "deployment/wbe"), "did you mean deployment/web?"),
        (("why-pending", "deployment/wbe"), "did you mean deployment/web?"),
        (("why-pending", WEB.replace("x2x", "xx2")), f"did you mean {WEB}?"),
        (("show", "--topology-key", "topology.kubernetes.io/zoen"), "did you mean topology.kubernetes.io/zone?"),
        (("show", "-n", "shopp"), "Did you mean shop? Namespaces with Pods: shop."),
        (("why-pending", "-n", "shopp"), "Did you mean shop? Namespaces with Pods: shop."),
        (("show", "--topology-key", "toplogy.kubernetes.io/zone"), "did you mean topology.kubernetes.io/zone?"),
        (("show", "--topolgy-key", "zone"), "--topology-key)"),
        (("shw",), "Did you mean 'show'?"),
    ],
)
def test_what_is_misspelt_is_asked_about(words: tuple[str, ...], asked: str) -> None:
    scope = SHOP[2:] if "-n" in words else SHOP
    assert spread(*words, *scope).stderr.rstrip().endswith(asked)


def test_a_namespace_with_pods_is_not_misspelt() -> None:
    said = spread("show", "-n", "shop", "-l", "app=none", *SHOP[2:]).stderr
    assert said == "No workloads with topology spread constraints found in shop namespace.\n"
