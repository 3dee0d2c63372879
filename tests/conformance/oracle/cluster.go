package main

import (
	"context"
	"fmt"
	"reflect"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

const (
	syncTimeout  = 30 * time.Second
	syncInterval = 100 * time.Microsecond
)

// recorders lead nowhere: a scheduler that binds nothing has no events.
var recorders = profile.NewRecorderFactory(events.NewBroadcaster(nil))

// cluster is a scheduler that has seen every object of a case and schedules nothing by itself.
type cluster struct {
	ctx       context.Context
	stop      context.CancelFunc
	objects   []runtime.Object
	scheduler *scheduler.Scheduler
}

// newCluster starts a scheduler on the objects. No profiles stand for the default one.
func newCluster(objects []runtime.Object, profiles []config.KubeSchedulerProfile) (*cluster, error) {
	ctx, stop := context.WithCancel(context.Background())
	client := fake.NewSimpleClientset(objects...)
	factory := informers.NewSharedInformerFactory(client, 0)
	volumes := watchVolumeHandlers(factory)
	var options []scheduler.Option
	if profiles != nil {
		options = append(options, scheduler.WithProfiles(profiles...))
	}
	started, err := scheduler.New(ctx, client, factory, nil, recorders, options...)
	if err != nil {
		stop()
		return nil, err
	}
	factory.Start(ctx.Done())
	c := &cluster{ctx: ctx, stop: stop, objects: objects, scheduler: started}
	if err := c.waitForSync(factory, volumes); err != nil {
		stop()
		return nil, err
	}
	return c, nil
}

// waitForSync waits until the informers, the scheduler's cache and the volume plugins' own ones hold every object.
func (c *cluster) waitForSync(factory informers.SharedInformerFactory, volumes *volumeHandlers) error {
	once, cancel := context.WithCancel(c.ctx)
	cancel() // with a context that is done, these look once instead of every 100 ms
	for deadline := time.Now().Add(syncTimeout); time.Now().Before(deadline); time.Sleep(syncInterval) {
		informed := allTrue(factory.WaitForCacheSync(once.Done())) && volumes.synced()
		if informed && c.scheduler.WaitForHandlersSync(once) == nil {
			return nil
		}
	}
	return fmt.Errorf("the scheduler did not see all objects within %s", syncTimeout)
}

func allTrue(synced map[reflect.Type]bool) bool {
	for _, done := range synced {
		if !done {
			return false
		}
	}
	return true
}

// cycle is the Pod's turn, by the profile it names or else the default scheduler's.
func (c *cluster) cycle(pod *v1.Pod) (*cycle, error) {
	chosen, ok := c.scheduler.Profiles[pod.Spec.SchedulerName]
	if !ok {
		chosen, ok = c.scheduler.Profiles[v1.DefaultSchedulerName]
	}
	if !ok {
		return nil, fmt.Errorf("no profile for the scheduler %q", pod.Spec.SchedulerName)
	}
	snapshot := chosen.SnapshotSharedLister().(*internalcache.Snapshot)
	*snapshot = *newSnapshot(c.objects)
	nodes, err := snapshot.NodeInfos().List()
	return &cycle{ctx: c.ctx, profile: chosen, pod: pod, nodes: nodes, budgets: budgetsAmong(c.objects)}, err
}

// newSnapshot holds every node and the Pods bound to one. The scheduler's own cache would take an image's size from
// whichever node came first, another one each time; here an image has the size its node says.
func newSnapshot(objects []runtime.Object) *internalcache.Snapshot {
	var nodes []*v1.Node
	names := sets.New[string]()
	for _, object := range objects {
		if node, ok := object.(*v1.Node); ok {
			nodes = append(nodes, node)
			names.Insert(node.Name)
		}
	}
	var bound []*v1.Pod
	for _, object := range objects {
		if pod, ok := object.(*v1.Pod); ok && names.Has(pod.Spec.NodeName) {
			bound = append(bound, pod)
		}
	}
	return internalcache.NewSnapshot(bound, nodes)
}
