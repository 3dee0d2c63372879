"""The real control plane for end-to-end tests, built from Go modules and started on loopback in seconds.

`control_plane` is the context manager, `Options` what it consists of, `Client` what a test asks of it.
"""
