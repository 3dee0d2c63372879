"""Which cluster was read, and what commands lack to reach it."""

from __future__ import annotations

from kubectl_spread.wording.pages import FILES_NAME_NO_CLUSTER, left_out, read_from, taken_from


def test_the_cluster_is_named_by_what_is_known_of_it() -> None:
    assert (
        read_from("prod", "eu", "https://a")
        == "Read from context prod, cluster eu, https://a, which is not the current context."
    )
    assert read_from("", "", "https://a") == "Read from https://a, which is not the current context."


def test_what_commands_lack() -> None:
    every = "to each kubectl command"
    lacks = "Add --context NAME to the commands below: the file does not name its cluster."
    assert lacks == FILES_NAME_NO_CLUSTER
    assert left_out(("--token", "--password"), snapshot=False) == (
        f"Add --token and --password {every}: secrets are not printed."
    )
    assert left_out(("--as",), snapshot=True) == f"Add --as {every}: the snapshot was taken with them."


def test_of_a_snapshot_is_said_what_its_file_says() -> None:
    assert taken_from("2026-05-04T03:02:01Z", "prod", "eu", "https://eu:6443") == (
        "Snapshot of 2026-05-04T03:02:01Z from context prod, cluster eu, https://eu:6443."
    )
    assert taken_from("", "", "", "https://eu:6443") == "Snapshot from https://eu:6443."
