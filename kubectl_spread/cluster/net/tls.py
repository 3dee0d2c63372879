"""TLS to an API server: whom to trust, and the certificate to show.

As Go does and OpenSSL does not by default: any certificate of the authority's file is trusted, an intermediate or the
server's own too, and the common name says nothing about the host.
"""

from __future__ import annotations

import base64
import re
import ssl
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from kubectl_spread.errors import ClusterError

_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----", re.DOTALL)
_VALIDITY = re.compile(
    rb"\x30[\x1e\x20\x22](?:\x17\x0d\d{12}Z|\x18\x0f\d{14}Z)(?:\x17\x0d(?P<utc>\d{12})Z|\x18\x0f(?P<general>\d{14})Z)"
)
"""The validity of a certificate as RFC 5280 has it encoded: notBefore, then notAfter."""


class KeyPair(msgspec.Struct, frozen=True):
    """A client certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes
    source: str

    def not_after(self) -> datetime | None:
        """Return when the certificate expires, None when that cannot be read."""
        found = _CERTIFICATE.search(self.certificate)
        validity = _VALIDITY.search(base64.b64decode(found[1])) if found else None
        if validity is None:
            return None
        utc, general = validity["utc"], validity["general"]
        text, layout = (utc, "%y%m%d%H%M%S") if utc else (general, "%Y%m%d%H%M%S")
        return datetime.strptime(text.decode(), layout).replace(tzinfo=UTC)


def context(*, authority: bytes, insecure: bool, key_pair: KeyPair | None) -> ssl.SSLContext:
    """Return how to speak TLS with the server.

    ``authority``: the certificates to trust, PEM; empty for those of the operating system.

    Raises:
        ClusterError: a certificate or key is malformed, or the two do not belong together.
    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.hostname_checks_common_name = False
    made.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    made.set_alpn_protocols(["http/1.1"])
    if insecure:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    else:
        _trust(made, authority)
    if key_pair:
        _show(made, key_pair)
    return made


def _trust(made: ssl.SSLContext, authority: bytes) -> None:
    if not authority:
        made.load_default_certs()
        return
    try:
        made.load_verify_locations(cadata=authority.decode("ascii", "ignore"))
    except ssl.SSLError as error:
        raise ClusterError("unable to load root certificates: no valid certificate in certificate-authority") from error


def _show(made: ssl.SSLContext, key_pair: KeyPair) -> None:
    """Show this certificate when the server asks; OpenSSL reads it from a file only, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="kubectl-spread-") as folder:
        path = Path(folder, "client.pem")
        path.write_bytes(key_pair.certificate + b"\n" + key_pair.key)
        try:
            made.load_cert_chain(path, password="")
        except ssl.SSLError as error:
            raise ClusterError(
                f"the client certificate and key of {key_pair.source} cannot be used: {error.reason or error}"
            ) from error
