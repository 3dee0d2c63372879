"""Which objects are meant, and what is said when there are none."""

from __future__ import annotations

import pytest

from kubectl_spread.commands.scope import Scope, namespaces_with_pods, not_found, nothing_found
from tests.build import node, pod, snapshot


@pytest.mark.parametrize(("namespace", "covered"), [("shop", True), ("", True), ("other", False)])
def test_a_namespace_or_all(namespace: str, *, covered: bool) -> None:
    assert Scope(namespace=namespace).covers("shop") == covered


def test_namespaces_that_hold_pods_come_by_name() -> None:
    pods = [pod(f"p{i}", namespace=namespace) for i, namespace in enumerate(("b", "a", "b"))]
    assert namespaces_with_pods(snapshot([node("n"), *pods])) == ("a", "b")


@pytest.mark.parametrize(
    ("namespace", "elsewhere", "text"),
    [
        ("shop", [], "No pods found in shop namespace."),
        ("shop", ["shop"], "No pods found in shop namespace."),
        ("shop", ["a", "shop", "b"], "No pods found in shop namespace. Namespaces with Pods: a, b."),
        ("", ["a"], "No pods found."),
    ],
)
def test_an_empty_answer_says_where_to_look(namespace: str, elsewhere: list[str], text: str) -> None:
    assert nothing_found(Scope(namespace=namespace), "pods", elsewhere) == text


@pytest.mark.parametrize(
    ("elsewhere", "hint"), [((), "check the name, or use -n"), (("b", "a"), "there is one in namespace a, b: use -n")]
)
def test_what_was_named_and_does_not_exist(elsewhere: tuple[str, ...], hint: str) -> None:
    error = not_found("deployment/web", Scope(namespace="shop"), elsewhere)
    assert error.message == 'deployment/web not found in namespace "shop"'
    assert (error.hint, error.status) == (hint, 404)
