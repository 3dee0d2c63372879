"""kubeconfig files, written by keywords."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path


def write_kubeconfig(
    path: Path,
    *,
    server: str = "https://127.0.0.1:1",
    name: str = "main",
    current: bool = True,
    namespace: str = "",
    cluster: Mapping[str, object] | None = None,
    user: Mapping[str, object] | None = None,
) -> Path:
    """Write a file with one cluster, user and context of that name, and return its path.

    Args:
        path: where.
        server: the cluster's URL.
        name: of all three.
        current: whether the context is the current one.
        namespace: the context's; empty for none.
        cluster: what else to say of the cluster.
        user: what to say of the user.
    """
    context = {"cluster": name, "user": name, "namespace": namespace or None}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": server, **(cluster or {})}}],
        "users": [{"name": name, "user": dict(user or {})}],
        "contexts": [{"name": name, "context": context}],
        "current-context": name if current else None,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(config, indent=2), encoding="utf-8")
    return path
