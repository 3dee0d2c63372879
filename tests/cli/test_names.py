"""Objects by as little of their names as tells them apart, and what is said of those that are misspelt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.program import spread

SHOP = ("-n", "shop", "--from", Path(__file__).parents[2] / "examples" / "shop.yaml")
QUICK = ("--fix-budget", "0")
WEB = "web-5d9c7b6f4-x2x5q"
TOPOLOGY = "topology.kubernetes.io"


@pytest.mark.parametrize(
    "names",
    [
        *((WEB,), (f"pod/{WEB}",), ("web-5d9c7b6f4-x",), ("web",), ("deployment/web",), ("deploy/web",)),
        *(("rs/web-5d9c7b6f4",), ("deploy", "web"), ("deploy,sts",), ("po",), (f"shop/{WEB}",), ("shop/deploy/web",)),
    ],
)
def test_the_pod_that_waits_is_meant(names: tuple[str, ...]) -> None:
    assert [item["name"] for item in spread("why-pending", *names, *SHOP, *QUICK, "-o", "json").items] == [WEB]


def test_a_name_that_several_pods_begin_with_is_none() -> None:
    assert spread("why-pending", "api-", *SHOP).error.startswith(
        'error: pods "api-" not found in namespace "shop"; 4 have this prefix: api-77cbd69d8-2fjkp, '
    )


@pytest.mark.parametrize(
    "words",
    [("show", "cart"), ("show", "shop/cart"), ("show", "deploy", "cart"), ("deploy/cart",), ("deployments", "cart")],
)
def test_the_workload_is_meant(words: tuple[str, ...]) -> None:
    asked = spread("show", "deployment/cart", *SHOP).stdout
    assert asked.startswith("shop/deployment/cart: ")
    assert spread(*words, *SHOP).stdout == spread(*SHOP, *words).stdout == asked


def test_a_namespace_that_stands_before_a_name_needs_no_flag() -> None:
    from_ = SHOP[2:]
    assert spread("show", "shop/cart", *from_).stdout == spread("show", "cart", *SHOP).stdout
    assert spread("show", "shop/cart", "-n", "other", *from_).error == (
        "error: the name is in namespace 'shop', but --namespace is 'other'; use one namespace"
    )


@pytest.mark.parametrize(("words", "flags"), [(("help",), ("-h",)), (("help", "show"), ("show", "-h"))])
def test_help_is_a_command_too(words: tuple[str, ...], flags: tuple[str, ...]) -> None:
    assert spread(*words).stdout == spread(*flags).stdout


def test_a_topology_key_is_taken_as_tables_have_it() -> None:
    short, full = (spread("show", "--topology-key", key, *SHOP).stdout for key in ("zone", f"{TOPOLOGY}/zone"))
    assert short == full
    assert "hostname" not in full


def test_a_zone_is_lost_by_the_short_key_of_the_tables() -> None:
    short, full = (
        spread("simulate", "--lose", f"{key}=a", *SHOP).stdout.partition(": ") for key in ("zone", f"{TOPOLOGY}/zone")
    )
    assert short[0] == "lose zone=a"
    assert short[2] == full[2]
    assert "1 of 8 evicted Pods finds no node" in full[2]


def test_a_workload_without_pods_that_wait_says_where_they_are() -> None:
    ended = spread("why-pending", "deploy/cart", *SHOP)
    assert (ended.code, ended.stdout) == (0, "")
    assert [line.rpartition(" ")[2] for line in ended.stderr.splitlines()] == ["node-a1.", "node-a2.", "node-a2."]


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (("show", "deploymnt/web"), "did you mean deployment?"),
        (("show", "deployment/wbe"), "did you mean deployment/web?"),
        (("show", "crat"), "did you mean cart?"),
        (("show", "deploymnt"), "did you mean deployment?"),
        (("why-pending", "wbe"), "did you mean web?"),
        (("cart",), 'use "show cart" for a workload, "check -f cart" for a manifest.'),
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


def test_all_namespaces_end_with_totals() -> None:
    (all_namespaces, one) = (spread("show", *words, *SHOP[2:]).stdout for words in (["-A"], ["-n", "shop"]))
    assert all_namespaces.splitlines()[-1] == "4 constraints of 4 workloads: 1 Blocked, 1 NoEffect, 1 Uneven, 1 OK."
    assert "constraints of" not in one + spread("show", "-A", "--no-headers", *SHOP[2:]).stdout
