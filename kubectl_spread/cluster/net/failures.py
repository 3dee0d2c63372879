"""Errors of failed requests, in words close to kubectl's.

Source: kubectl pkg/cmd/util/helpers.go StandardErrorMessage (v1.36).
"""

import ssl
from datetime import UTC, datetime
from typing import TypeVar

from msgspec.structs import replace
from urllib3 import exceptions
from urllib3.exceptions import TimeoutError as TooSlowError

from kubectl_spread.cluster.net.connection import Connection
from kubectl_spread.errors import ClusterError
from kubectl_spread.objects.decoding import DecodeError, decode
from kubectl_spread.objects.meta import Struct

T = TypeVar("T")

SHOWN_CHARACTERS = 200
CANNOT_CONNECT = "unable to connect to the server"
CHECK_PROXY = "check proxy-url or HTTPS_PROXY"
OTHER_HOST = "the certificate is for another host: check the server's URL, or use --tls-server-name"
# OpenSSL's X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH → what helps.
TRUST_HINTS = {
    10: "the server's certificate has to be renewed, or this machine's clock is wrong",
    **dict.fromkeys((62, 64), OTHER_HOST),
}
# OpenSSL's reasons for a server that does not speak TLS; they differ by release.
NOT_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")
PROTOBUF_PREFIX = b"k8s\x00"  # The first bytes of a document in Protocol Buffers
TOO_NEW = "ResourceVersionTooLarge"
# etcd's text for such a version; API servers before 1.34 pass it on.
TOO_NEW_WORDS = "required revision is a future revision"


class StatusCause(Struct, frozen=True):
    """One error of an object."""

    reason: str = ""
    message: str = ""
    field: str = ""


class StatusDetails(Struct, frozen=True):
    """The object of a Status, and its errors."""

    name: str = ""
    kind: str = ""
    causes: tuple[StatusCause, ...] = ()


class Status(Struct, frozen=True):
    """The API server's answer to a request that failed; ``code`` is the HTTP status."""

    code: int = 0
    kind: str = ""
    message: str = ""
    reason: str = ""
    details: StatusDetails = StatusDetails()

    @property
    def too_new(self) -> bool:
        """Whether the server has not reached the requested resourceVersion.

        Source: apiserver pkg/storage/errors.go NewTooLargeResourceVersionError (v1.36).
        """
        return TOO_NEW_WORDS in self.message or any(cause.reason == TOO_NEW for cause in self.details.causes)


class StatusError(ClusterError):
    """The API server answered with an error."""

    def __init__(self, message: str, *, answer: Status, what: str, status: int, hint: str = "") -> None:
        super().__init__(message, what=what, status=status, hint=hint)
        self.answer = answer
        # seconds to wait before the next request, as the server asks; 0 where it does not ask
        self.retry_after: float = 0


def parse_status(body: bytes) -> Status:
    """Return the Status in an answer; its message is the beginning of any other answer that is not HTML."""
    try:
        if body.startswith(PROTOBUF_PREFIX):
            from kubectl_spread.objects.protobuf import read_object

            kind, status = read_object(body, Status)
            status = replace(status, kind=kind)
        else:
            status = decode(body, Status)
    except DecodeError:
        status = Status()
    if status.kind == "Status" or body.startswith(PROTOBUF_PREFIX):
        return status
    text = " ".join(body.decode(errors="replace").split())
    return Status(message="" if text.startswith("<") else text[:SHOWN_CHARACTERS])


def failure(what: str, why: str, *, status: int = 0, hint: str = "") -> ClusterError:
    """Return the error of a request (``what``, in words) that failed."""
    return ClusterError(f"cannot {what}: {why}", what=what, status=status, hint=hint)


def decoded(body: bytes, into: type[T], *, what: str) -> T:
    """Return the answer to a request as the type; ClusterError if it is not valid."""
    try:
        return decode(body, into)
    except DecodeError as error:
        raise failure(what, f"the server's answer is not valid: {error}") from error


def refused(connection: Connection, *, what: str, needs: str, status: int, answer: Status) -> StatusError:
    """Return the error of a request that the server refused.

    ``answer``: the server's answer. ``needs``: the permission for the request; empty when it needs none.
    """
    words = f": {answer.message}" if answer.message not in ("", answer.reason) else ""
    match status:
        case 401:
            message, hint = f"you must be logged in to the server (Unauthorized){words}", _login_hint(connection)
        case 403:
            message, hint = f"not allowed to {what} (Forbidden){words}", f"needs {needs}" if needs else ""
        case _:
            message, hint = f"cannot {what}: the server answered {status} {answer.reason}".rstrip() + words, ""
    return StatusError(message, answer=answer, what=what, status=status, hint=hint)


def unreachable(connection: Connection, error: exceptions.HTTPError, *, what: str) -> ClusterError:
    """Return the error of a request without an answer, or with part of one."""
    address = connection.server.partition("://")[2].partition("/")[0]
    hint = f'check the server of context "{connection.context}"' if connection.context else "check --server"
    match error:
        case exceptions.SSLError() if not isinstance(error.args[0], ssl.SSLEOFError):
            return _tls_failure(connection, error.args[0], what=what)
        case exceptions.ProxyError():
            message, hint = f"{CANNOT_CONNECT} through its proxy: {_innermost(error)}", CHECK_PROXY
        case exceptions.NewConnectionError() if type(error.__context__).__module__ == "socks":
            message, hint = f"{CANNOT_CONNECT} through its proxy: {error.__context__}", CHECK_PROXY
        case exceptions.NameResolutionError() | exceptions.LocationParseError():
            message = f"{CANNOT_CONNECT}: no such host: {address}"
        case exceptions.NewConnectionError() if isinstance(error.__cause__, ConnectionRefusedError):
            message = f"the connection to the server {address} was refused - did you specify the right host or port?"
        case exceptions.NewConnectionError():
            message = f"{CANNOT_CONNECT}: {address}: {_innermost(error)}"
        case TooSlowError():
            message = f"{CANNOT_CONNECT}: {address} did not answer in time"
            hint = "allow more with --request-timeout" if connection.timeout else hint
        case _:
            message = f"lost the connection to the server {address}: {_innermost(error)}"
    return ClusterError(message, what=what, hint=hint)


def _login_hint(connection: Connection) -> str:
    if expired := _expired_certificate(connection):
        return expired
    if not connection.credentials.authorization() and connection.credentials.key_pair is None:
        return "the request carried no credentials: log in, or check the user of the context"
    who = f'the credentials of context "{connection.context}"' if connection.context else "the credentials"
    return f"{who} were refused: log in again"


def _tls_failure(connection: Connection, error: ssl.SSLError, *, what: str) -> ClusterError:
    if isinstance(error, ssl.SSLCertVerificationError):
        message = f"{CANNOT_CONNECT}: tls: failed to verify certificate: {error.verify_message}"
        authority = "check certificate-authority: it must hold the authority that signed the server's certificate"
        return ClusterError(message, what=what, hint=TRUST_HINTS.get(error.verify_code, authority))
    if error.reason in NOT_TLS:
        message = f"{CANNOT_CONNECT}: the server gave an HTTP response to an HTTPS client"
        return ClusterError(message, what=what, hint="check the server's URL and port")
    message = f"{CANNOT_CONNECT}: tls: {(error.reason or str(error)).replace('_', ' ').lower()}"
    return ClusterError(message, what=what, hint=_expired_certificate(connection))


def _expired_certificate(connection: Connection) -> str:
    key_pair = connection.credentials.key_pair
    not_after = key_pair.not_after() if key_pair else None
    if key_pair is None or not_after is None or not_after > datetime.now(UTC):
        return ""
    return f"the client certificate of {key_pair.source} expired on {not_after:%Y-%m-%d %H:%M} UTC: renew it"


def _innermost(error: BaseException) -> str:
    while cause := error.__cause__ or next((arg for arg in error.args if isinstance(arg, BaseException)), None):
        error = cause
    return (error.strerror if isinstance(error, OSError) else "") or str(error)
