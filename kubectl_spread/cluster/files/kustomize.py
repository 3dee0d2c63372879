"""Runs ``kubectl kustomize``.

Source: kubectl pkg/cmd/kustomize/kustomize.go; KUBECTL_PATH is set for plugins by kubectl from v1.37 on.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping

from kubectl_spread.cluster.files.documents import Document
from kubectl_spread.cluster.files.manifests import documents_of
from kubectl_spread.cluster.files.sources import Input
from kubectl_spread.errors import ManifestError
from kubectl_spread.manifest_problem import ManifestProblem


def build(directory: str, environment: Mapping[str, str] = os.environ) -> tuple[Document, ...]:
    """Return the documents that kustomize builds.

    Raises:
        ManifestError: there is no kubectl, it fails, or its output has no Kubernetes objects.
    """
    kubectl = environment.get("KUBECTL_PATH") or shutil.which("kubectl", path=environment.get("PATH"))
    if not kubectl:
        hint = "put kubectl on PATH, or build it elsewhere: kustomize build DIR | kubectl spread check -f -"
        raise ManifestError([ManifestProblem(directory, "cannot be built: there is no kubectl to run")], hint=hint)
    command = [kubectl, "kustomize", "--", directory]
    try:
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: S603 - kubectl, with arguments of ours
    except OSError as error:
        why = f"cannot be built: {kubectl}: {error.strerror}"
        raise ManifestError([ManifestProblem(directory, why)]) from error
    if ended.returncode:
        message = ended.stderr.decode(errors="replace").strip().removeprefix("error: ")
        why = " ".join(message.split()) or f"kubectl kustomize ended with code {ended.returncode}"
        raise ManifestError([ManifestProblem(directory, f"cannot be built: {why}")])
    return documents_of([Input(directory, ended.stdout)])
