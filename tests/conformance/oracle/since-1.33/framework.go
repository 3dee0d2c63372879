package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

type (
	cycleState      = *framework.CycleState
	filterPlugin    = framework.FilterPlugin
	podInfo         = *framework.PodInfo
	nodeInfo        = *framework.NodeInfo
	preFilterResult = framework.PreFilterResult
	status          = framework.Status
)

var (
	unresolvable  = framework.UnschedulableAndUnresolvable.String()
	unschedulable = framework.Unschedulable.String()
	absent        = framework.NewStatus(framework.UnschedulableAndUnresolvable)
)

// preFilter asks a filter that has one; the others have nothing against any node.
func preFilter(ctx context.Context, filter filterPlugin, state cycleState, pod *v1.Pod, _ []nodeInfo) (*preFilterResult, *status) {
	if plugin, ok := filter.(framework.PreFilterPlugin); ok {
		return plugin.PreFilter(ctx, state, pod)
	}
	return nil, nil
}

// addPod tells a filter that has a PreFilter of one more Pod on a node.
func addPod(ctx context.Context, filter filterPlugin, state cycleState, pod *v1.Pod, nominated podInfo, node nodeInfo) *status {
	if plugin, ok := filter.(framework.PreFilterPlugin); ok && plugin.PreFilterExtensions() != nil {
		return plugin.PreFilterExtensions().AddPod(ctx, state, pod, nominated, node)
	}
	return nil
}

func podOf(nominated podInfo) *v1.Pod {
	return nominated.Pod
}
