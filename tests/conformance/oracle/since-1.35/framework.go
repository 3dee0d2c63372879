package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

type (
	cycleState      = fwk.CycleState
	filterPlugin    = fwk.FilterPlugin
	podInfo         = fwk.PodInfo
	nodeInfo        = fwk.NodeInfo
	preFilterResult = fwk.PreFilterResult
	status          = fwk.Status
)

var (
	unresolvable  = fwk.UnschedulableAndUnresolvable.String()
	unschedulable = fwk.Unschedulable.String()
	absent        = fwk.NewStatus(fwk.UnschedulableAndUnresolvable)
)

// preFilter asks a filter that has one; the others have nothing against any node.
func preFilter(ctx context.Context, filter filterPlugin, state cycleState, pod *v1.Pod, nodes []nodeInfo) (*preFilterResult, *status) {
	if plugin, ok := filter.(fwk.PreFilterPlugin); ok {
		return plugin.PreFilter(ctx, state, pod, nodes)
	}
	return nil, nil
}

// addPod tells a filter that has a PreFilter of one more Pod on a node.
func addPod(ctx context.Context, filter filterPlugin, state cycleState, pod *v1.Pod, nominated podInfo, node nodeInfo) *status {
	if plugin, ok := filter.(fwk.PreFilterPlugin); ok && plugin.PreFilterExtensions() != nil {
		return plugin.PreFilterExtensions().AddPod(ctx, state, pod, nominated, node)
	}
	return nil
}

func podOf(nominated podInfo) *v1.Pod {
	return nominated.GetPod()
}
