"""Sockets on loopback: a second address of an API server, proxies, and servers that say nothing or too little."""

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

LOOPBACK = "127.0.0.1"

_PIECE = 1 << 16
_REQUEST_END = b"\r\n\r\n"
_SOCKS_IPV4, _SOCKS_NAME = 1, 3

Handshake = Callable[[socket.socket], str | None]
"""Talks to a client before bytes are carried; returns where it wants to go, None to turn it away."""


class Relay:
    """A relay that keeps where its clients wanted to go."""

    def __init__(self, target: str, handshake: Handshake) -> None:
        """Listen; whatever clients ask for, they are led to ``target``, which is host:port."""
        self.asked: list[str] = []
        self._target = target
        self._handshake = handshake
        self._listening = socket.create_server((LOOPBACK, 0))
        self.address = f"{LOOPBACK}:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self) -> None:
        """Listen no longer."""
        self._listening.close()

    def _accept(self) -> None:
        """Take each client into a thread of its own until the end."""
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        """Carry bytes both ways for a client that was not turned away."""
        with client, suppress(OSError):
            wanted = self._handshake(client)
            if wanted is None:
                return
            self.asked.append(wanted)
            host, _, port = self._target.partition(":")
            with socket.create_connection((host, int(port))) as server:
                threading.Thread(target=_carry, args=(server, client), daemon=True).start()
                _carry(client, server)


def _carry(source: socket.socket, sink: socket.socket) -> None:
    """Send on what arrives until one side ends."""
    with suppress(OSError):
        while piece := source.recv(_PIECE):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)


def directly(_: socket.socket) -> str:
    """Carry every byte: another address of the server."""
    return "directly"


def silently(client: socket.socket) -> None:
    """Take what is sent and never answer."""
    while client.recv(_PIECE):
        pass


def http_connect(client: socket.socket) -> str:
    """Do as an HTTP proxy that is asked to CONNECT."""
    request = b""
    while not request.endswith(_REQUEST_END):
        request += client.recv(1)
    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
    return request.split()[1].decode()


def refusing_connect(client: socket.socket) -> None:
    """Do as an HTTP proxy that lets nobody through."""
    client.recv(_PIECE)
    client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")


def socks5(client: socket.socket) -> str:
    """Do as a SOCKS5 proxy that wants no password (RFC 1928)."""
    _, methods = client.recv(2)
    client.recv(methods)
    client.sendall(b"\x05\x00")
    _, _, _, kind = client.recv(4)
    if kind == _SOCKS_NAME:
        host = client.recv(client.recv(1)[0]).decode()
    else:
        assert kind == _SOCKS_IPV4
        host = socket.inet_ntoa(client.recv(4))
    (port,) = struct.unpack("!H", client.recv(2))
    client.sendall(b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
    return f"{host}:{port}"


@contextmanager
def relay(target: str, handshake: Handshake) -> Iterator[Relay]:
    """Yield a relay to the server at host:port, which is stopped afterwards."""
    running = Relay(target, handshake)
    try:
        yield running
    finally:
        running.stop()


@contextmanager
def listening(serve: Callable[[socket.socket], object]) -> Iterator[str]:
    """Yield the address of a socket; each connection to it is handed over, then closed."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:

        def accept() -> None:
            while True:
                try:
                    accepted, _ = listener.accept()
                except OSError:
                    return
                with accepted:
                    serve(accepted)

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


def drip(accepted: socket.socket) -> None:
    """Send an answer a byte every 20 ms, until nobody takes it any more."""
    accepted.recv(1000)
    accepted.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    with suppress(ConnectionError):
        while True:
            accepted.sendall(b" ")
            time.sleep(0.02)
