"""What all changes have in common. Each family has its own: constraints.py, nodes.py, demands.py, moves.py.

Two proposals are the same change exactly if they are equal. So each field tells two changes apart.
"""

import msgspec

from kubectl_spread.diagnosis.fixes.change import Override


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """One change worth trying."""

    cost: int = 1  # how much it weakens the spread, or reaches beyond the Pod
    overrides: Override = Override.NOTHING
    corrects: bool = False  # whether it corrects an evident mistake, so that it comes before other changes

    @property
    def id(self) -> str:
        """The class of the change, as reports name it."""
        return type(self).__name__

    @property
    def values(self) -> tuple[str, ...]:
        """What tells it from other changes of its class."""
        own = (field for field in self.__struct_fields__ if field not in Proposal.__struct_fields__)
        return tuple(str(getattr(self, field)) for field in own)


class OfConstraint(Proposal, frozen=True, kw_only=True):
    """A change of the constraint on a topology key."""

    topology_key: str

    @property
    def values(self) -> tuple[str, ...]:
        """What tells it from other changes of its class, the constraint last."""
        key, *own = super().values
        return *own, key
