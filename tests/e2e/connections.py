"""Ways to a cluster: kubeconfigs, environments and flags, each with who comes out at which server, or why nobody does.

In every text ``$HERE`` is the folder of the case, ``$MAIN`` and ``$OTHER`` are two addresses of the API server,
``$SILENT`` is an address that never answers, ``$PROXY``, ``$SOCKS`` and ``$GATE`` are proxies (the last lets nobody
through), ``$TOKEN`` is a ServiceAccount's token, ``$CA`` and so on are files as a kubeconfig embeds them.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.controlplane.api import Object
from tests.controlplane.identity import ADMIN, User

ALICE = User(name="alice", groups=("dev", "ops"))
BOB = User(name="bob")
CAROL = "carol"  # Known by a client certificate
ROBOT = "system:serviceaccount:default:robot"

IN_POD = "in a Pod"  # What stands before a command that is to find a ServiceAccount's files where a Pod has them
WITHOUT_OVERRIDE = "without override"
"""What stands before a command that is to be held to the modes of files, even as root."""

_EXAMPLE = "https://api.test.example:6443"


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One way, and where it leads kubectl and us."""

    files: Mapping[str, object] = field(default_factory=dict)  # Name → a kubeconfig, or text as it is
    kubeconfig: str = "$HERE/config"  # The variable KUBECONFIG; empty to go without
    env: Mapping[str, str] = field(default_factory=dict)
    flags: Sequence[str] = ()
    typed: str = ""  # What a person types at a terminal; without it there is none
    inside: str = ""

    who: str = ""  # The user; empty where nobody gets through
    server: str = "$MAIN"
    namespace: str = "default"
    says: Sequence[str] = ()  # Words of our error
    exit_code: int = 3  # With which `kubectl spread show` then ends

    kubectl: str | None = None
    """The user that kubectl is there, or "" for nobody; given only where we differ on purpose."""
    because: str = ""  # Why we differ


def config(
    user: Object | None = None,
    *,
    name: str = "main",
    server: str = "$MAIN",
    cluster: Object | None = None,
    namespace: str | None = None,
    current: str | None = None,
) -> Object:
    """Return a kubeconfig with one cluster that trusts the API server, one user, and the context of both.

    Args:
        user: who asks; alice by token unless given.
        name: of cluster, user and context.
        server: the cluster's URL.
        cluster: what else to say of the cluster; None takes a key away.
        namespace: the context's.
        current: the current context; the only one unless given, none when empty.
    """
    described = {"server": server, "certificate-authority-data": "$CA", **(cluster or {})}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {key: value for key, value in described.items() if value is not None}}],
        "users": [{"name": name, "user": {"token": ALICE.token} if user is None else user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": namespace}}],
        "current-context": name if current is None else current,
    }


def one(user: Object | None = None, **described: Any) -> Mapping[str, object]:  # noqa: ANN401 - as config takes them
    """Return the files of a case that has one kubeconfig."""
    return {"config": config(user, **described)}


def _behind(proxy: str) -> Mapping[str, Any]:
    """Return what `config` is to say of a cluster that only a proxy can find."""
    return {"server": _EXAMPLE, "cluster": {"tls-server-name": "kubernetes", "proxy-url": proxy}}


def plugin(script: str, **settings: object) -> Object:
    """Return a user whose credentials come from one of the scripts of `connection_files`."""
    called = {"apiVersion": "client.authentication.k8s.io/v1", "command": f"./{script}", "interactiveMode": "Never"}
    return {"exec": {key: value for key, value in {**called, **settings}.items() if value is not None}}


def oidc(**settings: object) -> Object:
    """Return a user who logs in by OpenID Connect."""
    common = {"client-id": "kubectl", "idp-issuer-url": "$ISSUER", "idp-certificate-authority-data": "$ISSUER_CA"}
    return {"auth-provider": {"name": "oidc", "config": {**common, **settings}}}


_TEXT = json.dumps(config(), indent=1)
_ALICE, _BOB = {"token": ALICE.token}, {"token": BOB.token}
_TWO = {"one": config(_ALICE, name="a"), "two": config(_BOB, name="b", server="$OTHER", namespace="shop")}
_CERTIFICATE = {"client-certificate-data": "$CAROL_CRT", "client-key-data": "$CAROL_KEY"}
_AS_JANE = {"token": ADMIN.token, "as": "jane"}
_AT_EXAMPLE: Mapping[str, Any] = {"server": _EXAMPLE, "cluster": {"tls-server-name": "kubernetes"}}
_POD = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "$MAIN_PORT"}

SEVERAL_FILES: Mapping[str, Case] = {
    "the first current-context wins": Case(files=_TWO, kubeconfig="$HERE/one:$HERE/two", who="alice"),
    "the other way round": Case(
        files=_TWO, kubeconfig="$HERE/two:$HERE/one", who="bob", server="$OTHER", namespace="shop"
    ),
    "the only current-context wins": Case(
        files={"one": config(_ALICE, name="a", current=""), "two": config(_BOB, name="b")},
        kubeconfig="$HERE/one:$HERE/two",
        who="bob",
    ),
    "a context of the second file by name": Case(
        files=_TWO,
        kubeconfig="$HERE/one:$HERE/two",
        flags=["--context=b"],
        who="bob",
        server="$OTHER",
        namespace="shop",
    ),
    "a missing file and empty entries are passed over": Case(
        files=_TWO, kubeconfig=":$HERE/gone::$HERE/one:", who="alice"
    ),
    "the same file twice": Case(files=_TWO, kubeconfig="$HERE/one:$HERE/one", who="alice"),
    "a name defined twice is the first one whole": Case(
        files={
            "one": config({"client-certificate-data": "$CAROL_CRT", "client-key-data": "$CAROL_KEY"}, namespace="shop"),
            "two": config(_BOB, server="$OTHER"),
        },
        kubeconfig="$HERE/one:$HERE/two",
        who=CAROL,
        namespace="shop",
    ),
    "a context of one file, cluster and user of the other": Case(
        files={
            "one": {"contexts": [{"name": "x", "context": {"cluster": "b", "user": "b"}}], "current-context": "x"},
            "two": _TWO["two"],
        },
        kubeconfig="$HERE/one:$HERE/two",
        who="bob",
        server="$OTHER",
    ),
    "--kubeconfig is not merged": Case(
        files=_TWO,
        kubeconfig="$HERE/one",
        flags=["--kubeconfig=$HERE/two"],
        who="bob",
        server="$OTHER",
        namespace="shop",
    ),
    "the file in the home directory": Case(files={".kube/config": config()}, kubeconfig="", who="alice"),
    "relative paths are relative to the file": Case(
        files={
            "a/config": config(
                {"client-certificate": "../carol.crt", "client-key": "../carol.key"},
                cluster={"certificate-authority-data": None, "certificate-authority": "../ca.crt"},
            )
        },
        kubeconfig="a/config",
        who=CAROL,
    ),
    "all files missing": Case(
        kubeconfig="$HERE/gone:$HERE/lost", says=["there is no kubeconfig", "$HERE/gone", "KUBECONFIG"]
    ),
    "--kubeconfig missing": Case(flags=["--kubeconfig=gone"], says=["gone", "No such file"]),
    "one malformed file among several": Case(
        files={**_TWO, "bad": "{"}, kubeconfig="$HERE/one:$HERE/bad", says=["error loading config file", "$HERE/bad"]
    ),
}

FLAGS: Mapping[str, Case] = {
    "--namespace beats the context": Case(
        files=one(namespace="shop"), flags=["-n", "bank"], who="alice", namespace="bank"
    ),
    "the context's namespace": Case(files=one(namespace="shop"), who="alice", namespace="shop"),
    "--cluster": Case(
        files=_TWO, kubeconfig="$HERE/one:$HERE/two", flags=["--cluster=b"], who="alice", server="$OTHER"
    ),
    "--user": Case(files=_TWO, kubeconfig="$HERE/one:$HERE/two", flags=["--user=b"], who="bob"),
    "--cluster and --user without a context": Case(
        files=one(current=""), flags=["--cluster=main", "--user=main"], who="alice"
    ),
    "--server": Case(files=one(), flags=["--server=$OTHER"], who="alice", server="$OTHER"),
    "--server with a slash at the end": Case(files=one(), flags=["-s", "$OTHER/"], who="alice", server="$OTHER"),
    "--server by name": Case(
        files=one(),
        flags=["--server=https://localhost:$MAIN_PORT", "--tls-server-name=kubernetes"],
        who="alice",
        server="https://localhost:$MAIN_PORT",
    ),
    "--server without scheme is asked by http": Case(
        files=one(), flags=["--server=127.0.0.1:$MAIN_PORT"], says=["HTTP request to an HTTPS server"]
    ),
    "--server drops the tls-server-name": Case(
        files=one(cluster={"tls-server-name": "wrong"}), flags=["--server=$MAIN"], who="alice"
    ),
    "--server alone": Case(
        kubeconfig="", flags=["--server=$MAIN", "--certificate-authority=ca.crt", f"--token={BOB.token}"], who="bob"
    ),
    "KUBERNETES_MASTER": Case(
        kubeconfig="",
        env={"KUBERNETES_MASTER": "$OTHER"},
        flags=["--certificate-authority=ca.crt", f"--token={BOB.token}"],
        who="bob",
        server="$OTHER",
    ),
    "KUBERNETES_MASTER beside a kubeconfig": Case(files=one(), env={"KUBERNETES_MASTER": "$OTHER"}, who="alice"),
    "--token beats the context's": Case(files=one(), flags=[f"--token={BOB.token}"], who="bob"),
    "--token beside a client certificate": Case(files=one(_CERTIFICATE), flags=[f"--token={BOB.token}"], who=CAROL),
    "--token does not beat a token file": Case(
        files=one({"tokenFile": "alice.token"}), flags=[f"--token={BOB.token}"], who="alice"
    ),
    "--token beats a plugin": Case(files=one(plugin("fail")), flags=[f"--token={BOB.token}"], who="bob"),
    "--client-certificate and --client-key": Case(
        files=one({}), flags=["--client-certificate=carol.crt", "--client-key=carol.key"], who=CAROL
    ),
    "--client-certificate beats embedded ones": Case(
        files=one({"client-certificate-data": "bm8=", "client-key-data": "bm8="}),
        flags=["--client-certificate=carol.crt", "--client-key=carol.key"],
        who=CAROL,
    ),
    "--client-certificate without a key": Case(
        files=one({}), flags=["--client-certificate=carol.crt"], says=["client-key"]
    ),
    "--client-certificate that is missing": Case(
        files=one({}),
        flags=["--client-certificate=gone.crt", "--client-key=carol.key"],
        says=["unable to read client-certificate gone.crt", "No such file"],
    ),
    "a key of another certificate": Case(
        files=one({}), flags=["--client-certificate=carol.crt", "--client-key=other.key"], says=["cannot be used"]
    ),
    "--certificate-authority": Case(
        files=one(cluster={"certificate-authority-data": "$OTHER_CA"}),
        flags=["--certificate-authority=ca.crt"],
        who="alice",
    ),
    "--certificate-authority ends insecure-skip-tls-verify": Case(
        files=one(cluster={"certificate-authority-data": None, "insecure-skip-tls-verify": True}),
        flags=["--certificate-authority=other.crt"],
        says=["failed to verify certificate"],
    ),
    "--insecure-skip-tls-verify drops the authority": Case(
        files=one(cluster={"certificate-authority-data": "$OTHER_CA"}),
        flags=["--insecure-skip-tls-verify"],
        who="alice",
    ),
    "--insecure-skip-tls-verify=true": Case(
        files=one(cluster={"certificate-authority-data": None}), flags=["--insecure-skip-tls-verify=true"], who="alice"
    ),
    "--tls-server-name": Case(files=one(), flags=["--tls-server-name=kubernetes.default"], who="alice"),
    "--tls-server-name that the certificate lacks": Case(
        files=one(), flags=["--tls-server-name=elsewhere"], says=["failed to verify certificate", "elsewhere"]
    ),
    "--disable-compression": Case(files=one(), flags=["--disable-compression"], who="alice"),
    "--disable-compression=false": Case(
        files=one(cluster={"disable-compression": True}), flags=["--disable-compression=false"], who="alice"
    ),
    "--cache-dir is taken": Case(files=one(), flags=["--cache-dir=$HERE/cache"], who="alice"),
    "KUBECACHEDIR is taken": Case(files=one(), env={"KUBECACHEDIR": "$HERE/cache"}, who="alice"),
    "--username and --password": Case(
        files=one({}), flags=["--username=alice", "--password=secret"], says=["Forbidden", "system:anonymous"]
    ),
    "an unknown --context": Case(files=one(), flags=["--context=nope"], says=['context "nope" does not exist', "main"]),
    "an unknown --cluster": Case(files=one(), flags=["--cluster=nope"], says=['cluster "nope" does not exist', "main"]),
    "an unknown --user": Case(files=one(), flags=["--user=nope"], says=['user "nope" does not exist', "main"]),
    "an unknown flag": Case(
        files=one(), flags=["--contxt=main"], says=["No such option", "--contxt", "--context"], exit_code=2
    ),
}

TIMEOUTS: Mapping[str, Case] = {
    "--request-timeout with a unit": Case(files=one(), flags=["--request-timeout=1m30s"], who="alice"),
    "--request-timeout in seconds": Case(files=one(), flags=["--request-timeout=30"], who="alice"),
    "--request-timeout=0 is no limit": Case(files=one(), flags=["--request-timeout=0"], who="alice"),
    "--request-timeout that is none": Case(
        files=one(), flags=["--request-timeout=10x"], says=["timeout", "10x", "1s, 2m, 3h"], exit_code=2
    ),
    "--request-timeout that is too short": Case(
        files=one(server="$SILENT"),
        flags=["--request-timeout=300ms"],
        says=["did not answer in time", "--request-timeout"],
    ),
}

TOKENS: Mapping[str, Case] = {
    "a token": Case(files=one(_ALICE), who="alice"),
    "a ServiceAccount's token": Case(files=one({"token": "$TOKEN"}), who=ROBOT),
    "a token file": Case(files=one({"tokenFile": "alice.token"}), who="alice"),
    "a token file beats a token": Case(files=one({"tokenFile": "alice.token", **_BOB}), who="alice"),
    "a missing token file beside a token": Case(files=one({"tokenFile": "gone", **_BOB}), who="bob"),
    "a missing token file": Case(
        files=one({"tokenFile": "gone"}), says=["unable to read tokenFile", "$HERE/gone", "No such file"]
    ),
    "an empty token file": Case(files=one({"tokenFile": "empty"}), says=["empty", "$HERE/empty"]),
    "an empty token file beside a token": Case(files=one({"tokenFile": "empty", **_BOB}), who="bob"),
    "a token file of many lines": Case(
        files={**one({"tokenFile": "lines"}), "lines": "a\nb\n"}, says=["token", "characters"]
    ),
    "a token nobody knows": Case(files=one({"token": "nobody"}), says=["logged in", "Unauthorized", "main"]),
    "a token and a name": Case(
        files=one({**_ALICE, "username": "bob", "password": "secret"}),
        says=["main", "more than one authentication method", "token"],
    ),
    "name and password": Case(
        files=one({"username": "alice", "password": "secret"}), says=["Forbidden", "system:anonymous"]
    ),
    "no credentials": Case(files=one({}), says=["Forbidden", "system:anonymous"]),
    "a user that the context names in vain": Case(
        files={"config": {**config(), "users": []}}, says=['user "main" does not exist']
    ),
    "a token and a client certificate": Case(files=one({**_CERTIFICATE, **_BOB}), who=CAROL),
}

CERTIFICATES: Mapping[str, Case] = {
    "embedded": Case(files=one(_CERTIFICATE), who=CAROL),
    "from files": Case(files=one({"client-certificate": "carol.crt", "client-key": "$HERE/carol.key"}), who=CAROL),
    "certificate embedded, key from a file": Case(
        files=one({"client-certificate-data": "$CAROL_CRT", "client-key": "carol.key"}), who=CAROL
    ),
    "embedded and from a file at once": Case(
        files=one({**_CERTIFICATE, "client-certificate": "carol.crt"}), says=["client-certificate", "both"]
    ),
    "key embedded and from a file at once": Case(
        files=one({**_CERTIFICATE, "client-key": "carol.key"}), says=["client-key", "both"]
    ),
    "authority embedded and from a file at once": Case(
        files=one(cluster={"certificate-authority": "ca.crt"}), says=["certificate-authority", "both"]
    ),
    "without a key": Case(files=one({"client-certificate-data": "$CAROL_CRT"}), says=["main", "client-key"]),
    "a key without a certificate": Case(files=one({"client-key-data": "$CAROL_KEY"}), says=["system:anonymous"]),
    "a certificate that is not base64": Case(
        files=one({"client-certificate-data": "%%%", "client-key-data": "$CAROL_KEY"}), says=["base64"]
    ),
    "a certificate that is none": Case(
        files=one({"client-certificate-data": "bm8=", "client-key-data": "$CAROL_KEY"}), says=["cannot be used"]
    ),
    "a certificate of another authority": Case(
        files=one({"client-certificate-data": "$STRANGER_CRT", "client-key-data": "$STRANGER_KEY"}),
        says=["Unauthorized"],
    ),
    "authority from a file": Case(
        files=one(cluster={"certificate-authority-data": None, "certificate-authority": "ca.crt"}), who="alice"
    ),
    "authority missing": Case(
        files=one(cluster={"certificate-authority-data": None, "certificate-authority": "gone.crt"}),
        says=["unable to read certificate-authority", "$HERE/gone.crt"],
    ),
    "authority that is no certificate": Case(
        files=one(cluster={"certificate-authority-data": "bm8="}), says=["certificate"]
    ),
    "another authority": Case(
        files=one(cluster={"certificate-authority-data": "$OTHER_CA"}), says=["failed to verify certificate"]
    ),
    "the system's authorities": Case(
        files=one(cluster={"certificate-authority-data": None}), says=["failed to verify certificate"]
    ),
    "insecure-skip-tls-verify": Case(
        files=one(cluster={"certificate-authority-data": None, "insecure-skip-tls-verify": True}), who="alice"
    ),
    "insecure-skip-tls-verify beside an authority": Case(
        files=one(cluster={"insecure-skip-tls-verify": True}), says=["root certificates", "insecure"]
    ),
    "tls-server-name": Case(
        files=one(server="$OTHER", cluster={"tls-server-name": "kubernetes"}), who="alice", server="$OTHER"
    ),
    "tls-server-name that the certificate lacks": Case(
        files=one(cluster={"tls-server-name": "elsewhere"}), says=["failed to verify certificate", "elsewhere"]
    ),
    "https to a server that speaks http": Case(files=one(server="https://$PROXY_ADDRESS"), says=["$PROXY_ADDRESS"]),
    "http to a server that speaks https": Case(files=one(server="http://127.0.0.1:$MAIN_PORT"), says=["HTTPS"]),
}

PLUGINS: Mapping[str, Case] = {
    "a token": Case(files=one(plugin("login")), who="bob"),
    "a client certificate": Case(files=one(plugin("certify")), who=CAROL),
    "arguments and environment": Case(
        files=one(plugin("login", args=["--as", "alice"], env=[{"name": "SUFFIX", "value": "e"}])), who="alice"
    ),
    "a plugin of the PATH": Case(
        files=one(plugin("login", command="login")), env={"PATH": "$HERE:/usr/bin:/bin"}, who="bob"
    ),
    "client.authentication.k8s.io/v1beta1": Case(
        files=one(plugin("old", apiVersion="client.authentication.k8s.io/v1beta1", interactiveMode=None)),
        who="bob",
    ),
    "client.authentication.k8s.io/v1alpha1 is gone": Case(
        files=one(plugin("old", apiVersion="client.authentication.k8s.io/v1alpha1")),
        says=["$HERE/old", "invalid apiVersion", "v1alpha1"],
    ),
    "another version than was asked for": Case(
        files=one(plugin("old")), says=["v1beta1", "client.authentication.k8s.io/v1"]
    ),
    "provideClusterInfo": Case(
        files=one(
            plugin("informed", provideClusterInfo=True),
            cluster={"extensions": [{"name": "client.authentication.k8s.io/exec", "extension": {"user": "bob"}}]},
        ),
        who="bob",
    ),
    "slow": Case(files=one(plugin("slow")), who="bob"),
    "slower than --request-timeout": Case(
        files=one(plugin("slow", env=[{"name": "PAUSE", "value": "5"}])),
        flags=["--request-timeout=4s"],
        who="bob",
        kubectl="",
        because="a limit for requests is none for a person who logs in: we begin to count when we ask the server",
    ),
    "failing": Case(files=one(plugin("fail")), says=["exec plugin $HERE/fail", "exit code 3"]),
    "printing garbage": Case(files=one(plugin("garbage")), says=["$HERE/garbage"]),
    "printing nothing": Case(files=one(plugin("nothing")), says=["$HERE/nothing"]),
    "giving neither token nor certificate": Case(files=one(plugin("empty-handed")), says=["token", "certificate"]),
    "giving a certificate without a key": Case(files=one(plugin("keyless")), says=["certificate", "key", "not both"]),
    "missing": Case(
        files=one(plugin("gone", command="gone", installHint="brew install gone")),
        says=["exec plugin gone", "executable not found", "brew install gone"],
    ),
    "not executable": Case(
        files={**one(plugin("plain")), "plain": "#!/bin/sh\n"}, says=["$HERE/plain", "ermission denied"]
    ),
    "without apiVersion": Case(files=one(plugin("login", apiVersion=None)), says=["apiVersion"]),
    "without command": Case(files=one(plugin("login", command=None)), says=["command"]),
    "without interactiveMode": Case(files=one(plugin("login", interactiveMode=None)), says=["main", "interactiveMode"]),
    "with an interactiveMode that is none": Case(
        files=one(plugin("login", interactiveMode="Sometimes")), says=["interactiveMode", "Sometimes"]
    ),
    "interactiveMode Always without a terminal": Case(
        files=one(plugin("ask", interactiveMode="Always")), says=["$HERE/ask", "standard input", "terminal"]
    ),
    "interactiveMode Always at a terminal": Case(
        files=one(plugin("ask", interactiveMode="Always")), typed="token-of-alice", who="alice"
    ),
    "interactiveMode IfAvailable at a terminal": Case(
        files=one(plugin("ask", interactiveMode="IfAvailable")), typed="token-of-alice", who="alice"
    ),
    "interactiveMode IfAvailable without a terminal": Case(
        files=one(plugin("ask", interactiveMode="IfAvailable")), says=["$HERE/ask"]
    ),
    "interactiveMode Never at a terminal": Case(
        files=one(plugin("ask", interactiveMode="Never")), typed="token-of-alice", says=["$HERE/ask"]
    ),
    "a plugin beside a token": Case(files=one({**plugin("fail"), **_ALICE}), who="alice"),
    "a plugin beside a client certificate": Case(files=one({**plugin("fail"), **_CERTIFICATE}), who=CAROL),
    "a plugin beside an auth-provider": Case(
        files=one({**plugin("login"), **oidc()}), says=["main", "auth-provider", "exec plugin"]
    ),
    "a token that has expired by its own account": Case(
        files=one(plugin("expired")),
        who="bob",
        kubectl="",
        because="kubectl sends it all the same and asks the plugin again before the next request; we ask again at once",
    ),
    "a token that the server refuses, then a fresh one": Case(
        files=one(plugin("renew")),
        who="bob",
        kubectl="",
        because="kubectl asks the plugin again too, but only for the next request; we repeat the one that was refused",
    ),
}

_EXTENSIONS = [
    {"name": "other", "extension": 1},
    {"name": "client.authentication.k8s.io/exec", "extension": {"user": "bob", "deep": [{"a": 1}]}},
]
TELLING: Mapping[str, Case] = {
    "nothing of the cluster": Case(files=one(plugin("tell"))),
    "the cluster": Case(files=one(plugin("tell", provideClusterInfo=True))),
    "the cluster with what it has for plugins": Case(
        files=one(plugin("tell", provideClusterInfo=True), cluster={"extensions": _EXTENSIONS})
    ),
    "the cluster with its authority in a file": Case(
        files=one(
            plugin("tell", provideClusterInfo=True),
            cluster={"certificate-authority-data": None, "certificate-authority": "ca.crt"},
        )
    ),
    "the cluster as the flags have it": Case(
        files=one(plugin("tell", provideClusterInfo=True)),
        flags=["--server=$OTHER/", "--tls-server-name=kubernetes", "--disable-compression"],
    ),
    "the cluster by proxy": Case(
        files=one(plugin("tell", provideClusterInfo=True), cluster={"proxy-url": "$PROXY"}),
    ),
    "the cluster without verification": Case(
        files=one(plugin("tell", provideClusterInfo=True)), flags=["--insecure-skip-tls-verify"]
    ),
    "that there is a person": Case(files=one(plugin("tell", interactiveMode="IfAvailable")), typed="hello"),
    "that there is none": Case(files=one(plugin("tell", interactiveMode="IfAvailable"))),
    "that there is none for it": Case(files=one(plugin("tell")), typed="hello"),
    "by v1beta1": Case(
        files=one(plugin("tell", apiVersion="client.authentication.k8s.io/v1beta1", provideClusterInfo=True))
    ),
}
"""What a plugin is told that prints what it is told."""

OIDC: Mapping[str, Case] = {
    "an id-token": Case(files=one(oidc(**{"id-token": "$TOKEN"})), who=ROBOT),
    "an id-token that has expired is refreshed": Case(
        files=one(oidc(**{"id-token": "$EXPIRED", "refresh-token": "once"})), who=ROBOT
    ),
    "no id-token yet": Case(files=one(oidc(**{"refresh-token": "once"})), who=ROBOT),
    "an id-token that has expired and cannot be refreshed": Case(
        files=one(oidc(**{"id-token": "$EXPIRED"})), says=["main", "refresh"]
    ),
    "a refresh that is refused": Case(
        files=one(oidc(**{"id-token": "$EXPIRED", "refresh-token": "stolen"})), says=["main", "refresh"]
    ),
    "without any token": Case(files=one(oidc()), says=["main", "refresh"]),
    "without an issuer": Case(
        files=one({"auth-provider": {"name": "oidc", "config": {"client-id": "x"}}}), says=["idp-issuer-url"]
    ),
    "gcp, which is gone": Case(
        files=one({"auth-provider": {"name": "gcp", "config": {}}}), says=['no Auth Provider found for name "gcp"']
    ),
}

IMPERSONATION: Mapping[str, Case] = {
    "--as": Case(files=one({"token": ADMIN.token}), flags=["--as=jane"], who="jane"),
    "--as with groups, uid and extra": Case(
        files=one({"token": ADMIN.token}),
        flags=[
            "--as=jane",
            "--as-uid=7",
            "--as-group=a, b",
            "--as-group=c",
            "--as-user-extra=x.io/Y=1",
            "--as-user-extra=x.io/Y=2",
            "--as-user-extra=plain=a=b",
        ],
        who="jane",
    ),
    "--as a ServiceAccount": Case(files=one({"token": ADMIN.token}), flags=[f"--as={ROBOT}"], who=ROBOT),
    "as, as-uid, as-groups and as-user-extra": Case(
        files=one({**_AS_JANE, "as-uid": "7", "as-groups": ["a", "b"], "as-user-extra": {"x.io/Y%z": ["1", "2"]}}),
        who="jane",
    ),
    "names that are not ASCII": Case(
        files=one({**_AS_JANE, "as": "jané", "as-groups": ["grüße"], "as-user-extra": {"rôle": ["ü"]}}), who="jané"
    ),
    "--as beats as and leaves the groups": Case(
        files=one({**_AS_JANE, "as-groups": ["a"]}), flags=["--as=joe"], who="joe"
    ),
    "--as-group replaces as-groups": Case(
        files=one({**_AS_JANE, "as-groups": ["a", "b"]}), flags=["--as-group=c"], who="jane"
    ),
    "--as-user-extra is added to as-user-extra": Case(
        files=one({**_AS_JANE, "as-user-extra": {"a": ["1"], "b": ["2"]}}), flags=["--as-user-extra=b=3"], who="jane"
    ),
    "by a client certificate that may not": Case(
        files=one(_CERTIFICATE), flags=["--as=jane"], says=["Forbidden", "impersonate"]
    ),
    "by a user who may not": Case(files=one(), flags=["--as=jane"], says=["Forbidden", "impersonate", "alice"]),
    "--as-group without --as": Case(
        files=one(), flags=["--as-group=a"], says=["without impersonating a user", "--as"], exit_code=2
    ),
    "as-groups without as": Case(
        files=one({**_ALICE, "as-groups": ["a"]}), says=["without impersonating a user"], exit_code=2
    ),
    "--as-user-extra without a value": Case(
        files=one(), flags=["--as=jane", "--as-user-extra=x"], says=["--as-user-extra", "key=value"], exit_code=2
    ),
}

PROXIES: Mapping[str, Case] = {
    # Only a proxy can lead to this server: no name service knows it.
    "proxy-url http": Case(files=one(**_behind("$PROXY")), who="alice", server=_EXAMPLE),
    "proxy-url socks5": Case(files=one(**_behind("$SOCKS")), who="alice", server=_EXAMPLE),
    "proxy-url beats HTTPS_PROXY and NO_PROXY": Case(
        files=one(**_behind("$PROXY")),
        env={"HTTPS_PROXY": "http://127.0.0.1:1", "NO_PROXY": "*"},
        who="alice",
        server=_EXAMPLE,
    ),
    "proxy-url of another kind": Case(
        files=one(cluster={"proxy-url": "ftp://127.0.0.1:1"}), says=["ftp", "http, https or socks5"]
    ),
    "proxy-url without scheme": Case(
        files=one(cluster={"proxy-url": "localhost:3128"}), says=["localhost:3128", "http, https or socks5"]
    ),
    "proxy-url that nobody listens at": Case(
        files=one(cluster={"proxy-url": "http://127.0.0.1:1"}), says=["proxy", "refused"]
    ),
    "proxy-url socks5 that nobody listens at": Case(
        files=one(cluster={"proxy-url": "socks5://127.0.0.1:1"}), says=["proxy", "refused"]
    ),
    "a proxy that refuses": Case(files=one(cluster={"proxy-url": "$GATE"}), says=["proxy", "407"]),
    "HTTPS_PROXY": Case(files=one(**_AT_EXAMPLE), env={"HTTPS_PROXY": "$PROXY"}, who="alice", server=_EXAMPLE),
    "https_proxy in lower case": Case(
        files=one(**_AT_EXAMPLE), env={"https_proxy": "$PROXY"}, who="alice", server=_EXAMPLE
    ),
    "HTTPS_PROXY without scheme": Case(
        files=one(**_AT_EXAMPLE),
        env={"HTTPS_PROXY": "$PROXY_ADDRESS"},
        who="alice",
        server=_EXAMPLE,
    ),
    "HTTPS_PROXY socks5": Case(files=one(**_AT_EXAMPLE), env={"HTTPS_PROXY": "$SOCKS"}, who="alice", server=_EXAMPLE),
    "HTTPS_PROXY is not for this machine": Case(files=one(), env={"HTTPS_PROXY": "http://127.0.0.1:1"}, who="alice"),
    "HTTP_PROXY is not for https": Case(files=one(), env={"HTTP_PROXY": "http://127.0.0.1:1"}, who="alice"),
    "NO_PROXY": Case(
        files=one(**_AT_EXAMPLE),
        env={"HTTPS_PROXY": "$PROXY", "NO_PROXY": "other,.test.example"},
        says=["no such host", "api.test.example"],
    ),
    "NO_PROXY of another port": Case(
        files=one(**_AT_EXAMPLE),
        env={"HTTPS_PROXY": "$PROXY", "NO_PROXY": "api.test.example:443"},
        who="alice",
        server=_EXAMPLE,
    ),
}

FILES: Mapping[str, Case] = {
    "no kubeconfig at all": Case(kubeconfig="", says=["there is no kubeconfig", "~/.kube/config", "--kubeconfig"]),
    "an empty kubeconfig": Case(files={"config": ""}, says=["current-context is not set", "$HERE/config"]),
    "null": Case(files={"config": "null\n"}, says=["current-context is not set"]),
    "no current-context": Case(files=one(current=""), says=["current-context is not set", "contexts: main"]),
    "a current-context that is not there": Case(
        files=one(current="gone"), says=['context "gone" does not exist', "main"]
    ),
    "a context without a cluster": Case(
        files={"config": {**config(), "clusters": []}}, says=['cluster "main" does not exist']
    ),
    "a cluster without a server": Case(files=one(server=""), says=["main", "no server"]),
    "malformed YAML": Case(files={"config": "clusters: [}"}, says=["error loading config file", "$HERE/config"]),
    "a tab in YAML": Case(
        files={"config": "clusters:\n\t- name: a\n"}, says=["error loading config file", "$HERE/config"]
    ),
    "a list": Case(files={"config": "- clusters\n"}, says=["error loading config file", "$HERE/config"]),
    "text": Case(files={"config": "hello\n"}, says=["error loading config file", "$HERE/config"]),
    "clusters of a wrong type": Case(
        files={"config": {**config(), "clusters": {"name": "main"}}}, says=["error loading config file", "clusters"]
    ),
    "a server of a wrong type": Case(files=one(server=7), says=["error loading config file", "server"]),
    "a token of a wrong type": Case(files=one({"token": 1234}), says=["error loading config file", "token"]),
    "a switch of a wrong type": Case(
        files=one(cluster={"insecure-skip-tls-verify": "yes"}),
        says=["error loading config file", "insecure-skip-tls-verify"],
    ),
    "another kind": Case(files={"config": {**config(), "kind": "Pod"}}, says=["error loading config file", "Pod"]),
    "another apiVersion": Case(
        files={"config": {**config(), "apiVersion": "v2"}}, says=["error loading config file", "v2"]
    ),
    "without apiVersion and kind": Case(files={"config": {**config(), "apiVersion": None, "kind": None}}, who="alice"),
    "a name twice in one file": Case(
        files={"config": {**config(), "users": [*config()["users"], *config(_BOB)["users"]]}},
        says=["error loading config file", "duplicate name", "main", "users"],
    ),
    "a key twice": Case(
        files={"config": _TEXT.replace('"token":', '"token": "nobody",\n"token":')},
        says=["error loading config file", "$HERE/config", "token", "twice"],
        kubectl="alice",
        because="kubectl takes the last one; we do not guess which of two was meant",
    ),
    "unknown fields": Case(
        files={
            "config": {**config({**_ALICE, "colour": "red"}, cluster={"colour": {"of": "case"}}), "colour": ["red"]}
        },
        who="alice",
    ),
    "fields in another case are unknown": Case(
        files=one({**_ALICE, "TOKEN": BOB.token, "Token": BOB.token}), who="alice"
    ),
    "preferences and extensions": Case(
        files={"config": {**config(), "preferences": {"colors": True}, "extensions": [{"name": "x", "extension": {}}]}},
        who="alice",
    ),
    "two documents": Case(files={"config": f"{_TEXT}\n---\n{json.dumps(config(_BOB))}\n"}, who="alice"),
    "a byte order mark": Case(files={"config": f"\ufeff{_TEXT}"}, who="alice"),
    "Windows line ends": Case(files={"config": _TEXT.replace("\n", "\r\n")}, who="alice"),
    "a folder": Case(kubeconfig="$HERE", says=["error loading config file", "$HERE", "directory"]),
    "a file that may not be read": Case(
        files=one(), inside=WITHOUT_OVERRIDE, says=["error loading config file", "$HERE/config", "ermission denied"]
    ),
    "a path through a file": Case(files=one(), kubeconfig="$HERE/config/config", says=["$HERE/config/config"]),
    "a server that is no URL": Case(files=one(server="https://a b"), says=["https://a b"]),
    "a server of another scheme": Case(files=one(server="ftp://127.0.0.1:1"), says=["ftp://127.0.0.1:1"]),
    "a server that nobody listens at": Case(
        files=one(server="https://127.0.0.1:1"), says=["127.0.0.1:1", "refused", "right host or port"]
    ),
    "a server that no one knows": Case(
        files=one(server="https://no.such.host.example"), says=["no such host", "no.such.host.example"]
    ),
}

PODS: Mapping[str, Case] = {
    "the service account asks": Case(kubeconfig="", env=_POD, inside=IN_POD, who=ROBOT, namespace="bank"),
    "a kubeconfig comes first": Case(files=one(), env=_POD, inside=IN_POD, who="alice", namespace="bank"),
    "a kubeconfig with a namespace comes first": Case(
        files=one(namespace="shop"), env=_POD, inside=IN_POD, who="alice", namespace="shop"
    ),
    "a namespace by flag": Case(
        kubeconfig="", env=_POD, inside=IN_POD, flags=["-n", "shop"], who=ROBOT, namespace="shop"
    ),
    "a namespace by variable": Case(
        kubeconfig="", env={**_POD, "POD_NAMESPACE": "ours"}, inside=IN_POD, who=ROBOT, namespace="ours"
    ),
    "a token by flag": Case(
        kubeconfig="", env=_POD, inside=IN_POD, flags=[f"--token={BOB.token}"], who="bob", namespace="bank"
    ),
    "a server by flag": Case(
        kubeconfig="",
        env=_POD,
        inside=IN_POD,
        flags=["--server=$OTHER", f"--token={BOB.token}", "--certificate-authority=ca.crt"],
        who="bob",
        server="$OTHER",
        namespace="bank",
    ),
    "an empty kubeconfig": Case(files={"config": ""}, env=_POD, inside=IN_POD, who=ROBOT, namespace="bank"),
    "a context that does not exist": Case(
        kubeconfig="", env=_POD, inside=IN_POD, flags=["--context=nope"], says=['context "nope" does not exist']
    ),
    "the variables without the files": Case(kubeconfig="", env=_POD, says=["there is no kubeconfig"]),
    "the files without the variables": Case(kubeconfig="", inside=IN_POD, says=["there is no kubeconfig"]),
    "--as": Case(
        kubeconfig="",
        env=_POD,
        inside=IN_POD,
        flags=["--as=jane"],
        says=["Forbidden", "impersonate"],
        kubectl="",
        because="kubectl forgets that it is in a Pod where --as is given, and asks localhost:8080",
    ),
}

CASES: Mapping[str, Case] = {
    f"{group}: {name}": case
    for group, cases in {
        "several files": SEVERAL_FILES,
        "flags": FLAGS,
        "timeouts": TIMEOUTS,
        "tokens": TOKENS,
        "certificates": CERTIFICATES,
        "plugins": PLUGINS,
        "OpenID Connect": OIDC,
        "impersonation": IMPERSONATION,
        "proxies": PROXIES,
        "files": FILES,
        "in a Pod": PODS,
    }.items()
    for name, case in cases.items()
}
"""Group and name → case."""
