package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/dynamicresources/deviceallocation"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/state/virtualpods"
	"sigs.k8s.io/karpenter/pkg/test"
)

func newProvisioner(kube client.Client, cloud cloudprovider.CloudProvider, states *state.Cluster, now clock.Clock) *provisioning.Provisioner {
	return provisioning.NewProvisioner(kube, test.NewEventRecorder(), cloud, states, now, deviceallocation.NewController(kube), virtualpods.NewVirtualPodCache(kube))
}

func newScheduler(ctx context.Context, provisioner *provisioning.Provisioner, pods []*corev1.Pod, states *state.Cluster) (*scheduling.Scheduler, error) {
	return provisioner.NewScheduler(ctx, pods, states.DeepCopyNodes().Active(), sets.New[types.UID]())
}
