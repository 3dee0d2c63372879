"""TLS to an API server: the trusted certificates, and the client certificate.

As in Go, and unlike OpenSSL's default, any certificate in the authority's file is trusted, also an intermediate or the
server's own, and the common name does not count as a host name.
"""

import base64
import re
import ssl
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from kubectl_spread.errors import ClusterError

_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----", re.DOTALL)
# The validity of a certificate as RFC 5280 encodes it: notBefore, then notAfter.
_VALIDITY = re.compile(
    rb"\x30[\x1e\x20\x22](?:\x17\x0d\d{12}Z|\x18\x0f\d{14}Z)(?:\x17\x0d(?P<utc>\d{12})Z|\x18\x0f(?P<general>\d{14})Z)"
)


class KeyPair(msgspec.Struct, frozen=True):
    """A client certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes
    source: str

    def not_after(self) -> datetime | None:
        """Return when the certificate expires; None when that cannot be read."""
        found = _CERTIFICATE.search(self.certificate)
        validity = _VALIDITY.search(base64.b64decode(found[1])) if found else None
        if validity is None:
            return None
        utc, general = validity["utc"], validity["general"]
        text, layout = (utc, "%y%m%d%H%M%S") if utc else (general, "%Y%m%d%H%M%S")
        return datetime.strptime(text.decode(), layout).replace(tzinfo=UTC)


class _SharedContext(ssl.SSLContext):
    """Settings that connections of several threads share: urllib3 sets the protocols again for each of them.

    OpenSSL frees the old list meanwhile, so another thread would send what is left there, and the server refuse it.
    """

    def set_alpn_protocols(self, alpn_protocols: Iterable[str]) -> None:
        if not hasattr(self, "_protocols"):
            self._protocols = [*alpn_protocols]
            super().set_alpn_protocols(self._protocols)


def context(*, authority: bytes, insecure: bool, key_pair: KeyPair | None) -> ssl.SSLContext:
    """Return the TLS settings for the server.

    ``authority``: the trusted certificates, PEM; empty for those of the operating system.

    Raises:
        ClusterError: a certificate or key is malformed, or they do not match.
    """
    made = _SharedContext(ssl.PROTOCOL_TLS_CLIENT)
    made.hostname_checks_common_name = False
    made.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    made.set_alpn_protocols(["http/1.1"])
    if insecure:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    elif not authority:
        made.load_default_certs()
    else:
        try:
            made.load_verify_locations(cadata=authority.decode("ascii", "ignore"))
        except ssl.SSLError as error:
            message = "unable to load root certificates: no valid certificate in certificate-authority"
            raise ClusterError(message) from error
    if key_pair:
        _load_client_certificate(made, key_pair)
    return made


def _load_client_certificate(made: ssl.SSLContext, key_pair: KeyPair) -> None:
    """Load the certificate through a temporary file: OpenSSL reads it only from files."""
    with tempfile.TemporaryDirectory(prefix="kubectl-spread-") as folder:
        path = Path(folder, "client.pem")
        path.write_bytes(key_pair.certificate + b"\n" + key_pair.key)
        try:
            made.load_cert_chain(path, password="")
        except ssl.SSLError as error:
            raise ClusterError(
                f"the client certificate and key of {key_pair.source} cannot be used: {error.reason or error}"
            ) from error
