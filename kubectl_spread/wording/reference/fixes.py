"""The classes of fixes, as ``kubectl_spread.diagnosis.fixes`` tries them, those that keep the promise first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from kubectl_spread.wording import entry
from kubectl_spread.wording.entry import Entry, EntryKind

_fix = partial(Entry, kind=EntryKind.FIX)

FIXES: Sequence[Entry] = (
    _fix(
        name="FixSelector",
        summary="make the constraint select the Pod's own kind",
        meaning="The labels of matchLabels take the Pod's own values, and those it lacks are dropped; or the selector"
        " becomes that of the Pod's controller, without hashes of revisions.",
        when="Where the constraint counts Pods of another kind, and counting its own lets the Pod in.",
        action="Change the Pod template; a Pod's constraints cannot be changed once it exists.",
        link=entry.DEFINITION,
    ),
    _fix(
        name="AddPodLabel",
        summary="give the Pod the labels that its constraint selects",
        meaning="Labels that the Pod lacks are added. None that it has is given another value.",
        when="Where no Service, PodDisruptionBudget, NetworkPolicy or controller would then take the Pod for"
        " its own that did not before, and all of these could be read.",
        action="The first command helps this Pod alone, the second changes the template for those to come.",
        link=entry.CONVENTIONS,
    ),
    _fix(
        name="FixTopologyKey",
        summary="use the well-known key that the nodes carry",
        meaning="The constraint spreads over the well-known label in place of one that looks like it and that nodes"
        " lack.",
        when="Where nodes that lack the key have the well-known spelling.",
        action="Change the Pod template. Other workloads with the same slip are worth a look: show --problems.",
        link=entry.NODE_LABELS,
    ),
    _fix(
        name="AddMatchLabelKeys",
        summary="count each revision alone",
        meaning="matchLabelKeys gets the label that tells revisions apart, so that Pods of the revision that goes no"
        " longer stand in the way of the one that comes.",
        when="Where Pods of several revisions are counted together, the Pod itself among those that match, and the"
        " release knows the field.",
        action="Change the Pod template. The new revision starts at zero: where its Pods may go is said beside it.",
        link=entry.DEFINITION,
    ),
    _fix(
        name="HonorTaints",
        summary="count only nodes whose taints the Pod tolerates",
        meaning="nodeTaintsPolicy becomes Honor. Domains that only tainted nodes make up are not counted any more, so"
        " they no longer hold the minimum down.",
        when="Where nodes with taints that the Pod does not tolerate are counted, the constraint selects the Pod"
        " itself, and more than one domain is left.",
        action="Change the Pod template. The promise stays: Pods are even over the domains that they can reach.",
        link=entry.DEFINITION,
    ),
    _fix(
        name="IgnoreAffinity",
        summary="count nodes that the Pod's node affinity rules out, too",
        meaning="nodeAffinityPolicy becomes Ignore. Pods on nodes outside nodeSelector and node affinity count, which"
        " may change the minimum and the number of domains.",
        when="Where the Pod has node affinity, and the constraint honours it and selects the Pod itself.",
        action="Change the Pod template, if all Pods that match are meant to be even, wherever they may run.",
        link=entry.AFFINITY,
    ),
    _fix(
        name="HonorAffinity",
        summary="do not count nodes that the Pod's node affinity rules out",
        meaning="nodeAffinityPolicy becomes Honor, which is also the default. Domains that the Pod cannot reach no"
        " longer hold the minimum down.",
        when="Where the Pod has node affinity and the constraint ignores it.",
        action="Change the Pod template: drop the field or set it to Honor.",
        link=entry.AFFINITY,
    ),
    _fix(
        name="Uncordon",
        summary="let a cordoned node take Pods again",
        meaning="spec.unschedulable is cleared, and with it the taint that mirrors it.",
        when="For a cordoned node that would take the Pod otherwise.",
        action="Somebody cordoned it: ask, then run kubectl uncordon.",
        link=entry.TAINTS,
    ),
    _fix(
        name="LabelNode",
        summary="give a node the topology label that it lacks",
        meaning="The node gets the key with the value that its label of the same meaning has, such as the deprecated"
        " spelling of the zone.",
        when="Where the node carries such a label and one of the two spellings is well known.",
        action="Label the node, and whatever makes nodes: the next one will lack it too.",
        link=entry.NODE_LABELS,
    ),
    _fix(
        name="AddToleration",
        summary="let the Pod tolerate a taint",
        meaning="The Pod gets a toleration of exactly this taint: key, value and effect.",
        when="For taints that people set; never for those that Kubernetes, a cloud, an autoscaler or an agent owns:"
        " what the node suffers from is said instead.",
        action="Make sure that the Pod belongs there: the nodes were set apart on purpose.",
        link=entry.TAINTS,
    ),
    _fix(
        name="RemoveTaint",
        summary="remove a taint from a node",
        meaning="One taint goes from one node. Other Pods may then land there as well.",
        when="For taints that people set; never for those that Kubernetes, a cloud, an autoscaler or an agent owns:"
        " what the node suffers from is said instead.",
        action="Make sure that the taint's purpose is gone.",
        link=entry.TAINTS,
    ),
    _fix(
        name="MovePod",
        summary="delete one Pod, which its controller makes again elsewhere",
        meaning="A counted Pod in a crowded domain goes, or one that holds the room, the port, the volume or the"
        " anti-affinity. Its replacement was placed as well, after the Pending Pod.",
        when="Where fewer Pods are Pending afterwards and no PodDisruptionBudget forbids it. Never one of a Job or"
        " DaemonSet, a static one, or one marked do-not-disrupt, safe-to-evict: false or prefer-no-eviction; one that"
        " is being deleted is forced only where its node does not answer.",
        action="Delete it. A Pod without a controller is gone for good, which is said beside it: that comes last.",
        link=entry.CONFLICTING,
    ),
    _fix(
        name="LowerMinDomains",
        summary="ask for no more domains than there are",
        meaning="minDomains becomes the number of eligible domains, so that the true minimum counts again.",
        when="Where fewer domains are eligible than minDomains asks for.",
        action="Change the Pod template, if living with fewer domains is acceptable; a node in another one keeps it.",
        link=entry.DEFINITION,
    ),
    _fix(
        name="RaiseMaxSkew",
        summary="allow a larger difference between domains",
        meaning="maxSkew becomes the smallest value that lets the Pod in. It holds for every Pod to come.",
        when="Where a DoNotSchedule constraint rejects nodes by skew alone.",
        action="Change the Pod template, if that imbalance is acceptable.",
        link=entry.DEFINITION,
    ),
    _fix(
        name="AddNode",
        summary="add a node to a domain",
        meaning="A node like one that is there, empty and in good order, in the domain that is named.",
        when="Where such a node would take the Pod: what an autoscaler would have to add.",
        action="Add it, or look at why the autoscaler does not.",
        link=entry.LIMITATIONS,
    ),
    _fix(
        name="RelaxNodeSelector",
        summary="ask less of the nodes",
        meaning="One label is dropped from nodeSelector, or the required node affinity becomes a preference.",
        when="Where NodeAffinity keeps the Pod off nodes that would take it otherwise; not for a DaemonSet's"
        " affinity, which its controller sets.",
        action="Change the Pod template, if the Pod can run on those nodes.",
        link=entry.NODE_ASSIGNMENT,
    ),
    _fix(
        name="LowerRequests",
        summary="ask for less of a resource",
        meaning="The largest request of one container, or the Pod's own, is lowered to what a node still has.",
        when="Where a node lacks nothing but that much of the resource.",
        action="Change the Pod template, if the container needs no more than that.",
        link=entry.REQUESTS,
    ),
    _fix(
        name="RelaxPodAffinity",
        summary="only prefer to be near other Pods, or away from them",
        meaning="One required term of podAffinity or podAntiAffinity becomes a preference.",
        when="Where InterPodAffinity keeps the Pod off nodes that would take it otherwise.",
        action="Change the Pod template, if the Pod works without it.",
        link=entry.POD_AFFINITY,
    ),
    _fix(
        name="ChangeHostPort",
        summary="do without a host port",
        meaning="The port of a container is no longer bound on the node, where another Pod holds it.",
        when="Where NodePorts keeps the Pod off nodes that would take it otherwise.",
        action="Change the Pod template: another host port, or a Service in its place.",
        link=entry.NODE_ASSIGNMENT,
    ),
    _fix(
        name="MakeSoft",
        summary="only prefer an even spread",
        meaning="whenUnsatisfiable becomes ScheduleAnyway, and minDomains goes, which is not allowed beside it. The"
        " constraint then only ranks nodes; nothing stops all Pods from lying in one domain.",
        when="For a DoNotSchedule constraint that rejects nodes, last of all.",
        action="Change the Pod template, if running unevenly is better than not running.",
        link=entry.DEFINITION,
    ),
)
