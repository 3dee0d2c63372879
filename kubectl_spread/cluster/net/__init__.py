"""Bytes over the network: TLS, proxies, requests that are tried again."""
