"""Constraints as an autoscaler counts them; reports have these types as they are."""

import msgspec


class CountedDomain(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A domain as the autoscaler counts it.

    Attributes:
        value: the domain.
        matching: Pods that the constraint counts there.
        from_: the pools that may add nodes in it.
    """

    value: str
    matching: int
    from_: tuple[str, ...] = msgspec.field(name="from", default=())


class CountedConstraint(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A constraint as the autoscaler counts it, perhaps otherwise than the scheduler.

    Attributes:
        global_minimum: the fewest matching Pods in any of its domains.
        domains: each domain that it knows; none for the hostname, where a new node is a new domain.
    """

    index: int
    global_minimum: int
    domains: tuple[CountedDomain, ...] = ()
