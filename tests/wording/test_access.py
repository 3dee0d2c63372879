"""Which cluster was read, and what commands lack to reach it."""

from __future__ import annotations

from kubectl_spread.wording.access import files_name_no_cluster, read_from, secrets_left_out


def test_the_cluster_is_named_by_what_is_known_of_it() -> None:
    assert (
        read_from("prod", "eu", "https://a")
        == "Read from context prod, cluster eu, https://a: not the current context."
    )
    assert read_from("", "", "https://a") == "Read from https://a: not the current context."


def test_what_commands_lack() -> None:
    assert files_name_no_cluster("a.yaml, b.yaml") == "Read from a.yaml, b.yaml: add --context to the commands."
    assert files_name_no_cluster("-") == "Read from standard input: add --context to the commands."
    assert secrets_left_out(("--token", "--password")) == (
        "Add --token and --password to the commands: secrets are not printed."
    )
