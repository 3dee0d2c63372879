"""When a client certificate expires, and what connections of several threads share."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime

import pytest
import trustme

from kubectl_spread.cluster.net.tls import KeyPair, context


@pytest.mark.parametrize("expires", [datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC), datetime(2090, 1, 1, tzinfo=UTC)])
def test_the_end_of_a_certificate_is_read_in_either_encoding(authority: trustme.CA, expires: datetime) -> None:
    leaf = authority.issue_cert(common_name="jane", not_after=expires)
    assert KeyPair(leaf.cert_chain_pems[0].bytes(), b"", "").not_after() == expires


def test_the_first_certificate_of_several_counts(authority: trustme.CA) -> None:
    expires = datetime(2031, 1, 1, tzinfo=UTC)
    leaf = authority.issue_cert(common_name="jane", not_after=expires)
    pems = b"some words\n" + leaf.cert_chain_pems[0].bytes() + authority.cert_pem.bytes()
    assert KeyPair(pems, b"", "").not_after() == expires


@pytest.mark.parametrize("text", [b"", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"])
def test_what_is_no_certificate_has_no_end(text: bytes) -> None:
    assert KeyPair(text, b"", "").not_after() is None


def test_the_protocols_are_set_once_while_other_threads_may_read_them() -> None:
    shared, sent = context(authority=b"", insecure=True, key_pair=None), ssl.MemoryBIO()
    shared.set_alpn_protocols(["h2"])  # urllib3 sets its own for each connection
    with pytest.raises(ssl.SSLWantReadError):
        shared.wrap_bio(ssl.MemoryBIO(), sent).do_handshake()
    assert b"\x08http/1.1" in sent.read()
