"""Constraints as an autoscaler counts them; reports have these types as they are."""

import msgspec


class CountedDomain(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A domain as the autoscaler counts it."""

    value: str  # the domain
    matching: int  # Pods that the constraint counts there
    from_: tuple[str, ...] = msgspec.field(name="from", default=())  # the pools that may add nodes in it


class CountedConstraint(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A constraint as the autoscaler counts it, perhaps otherwise than the scheduler."""

    index: int
    global_minimum: int  # the fewest matching Pods in any of its domains
    # each domain that it knows; none for the hostname, where a new node is a new domain
    domains: tuple[CountedDomain, ...] = ()
