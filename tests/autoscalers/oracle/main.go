// Asks Karpenter's own scheduler what it does about one Pending Pod: a case a line in, its outcomes a line out.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"

	"github.com/awslabs/operatorpkg/status"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	clock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	fakeclient "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/karpenter/pkg/test"
	"sigs.k8s.io/karpenter/pkg/test/v1alpha1"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Question is one cluster with the Pod default/pend.
type Question struct {
	Name          string            `json:"name"`
	Objects       []json.RawMessage `json:"objects"`
	InstanceTypes []InstanceType    `json:"instanceTypes"`
}

// Answer lists what was seen: [New, pool, zones], [Existing, node, ""] or [Refused, "", ""].
type Answer struct {
	Name string      `json:"name"`
	Want [][3]string `json:"want"`
	Why  string      `json:"why,omitempty"`
}

// InstanceType is one of kwok's.
type InstanceType struct {
	Name             string              `json:"name"`
	Architecture     string              `json:"architecture"`
	OperatingSystems []string            `json:"operatingSystems"`
	Resources        corev1.ResourceList `json:"resources"`
	Offerings        []struct {
		Requirements []corev1.NodeSelectorRequirement
	} `json:"offerings"`
}

// provider sells each NodePool the instance types in the zones of its node class.
type provider struct {
	*fake.CloudProvider
	zones map[string]map[string]bool
	types []InstanceType
}

func (p *provider) GetInstanceTypes(_ context.Context, np *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	var found []*cloudprovider.InstanceType
	zones := p.zones[np.Spec.Template.Spec.NodeClassRef.Name]
	for _, each := range p.types {
		found = append(found, sold(each, zones))
	}
	return found, nil
}

func (p *provider) GetSupportedNodeClasses() []status.Object {
	return []status.Object{&v1alpha1.TestNodeClass{}}
}

func sold(each InstanceType, zones map[string]bool) *cloudprovider.InstanceType {
	in := func(key string, values ...string) *scheduling.Requirement {
		return scheduling.NewRequirement(key, corev1.NodeSelectorOpIn, values...)
	}
	values := map[string][]string{corev1.LabelTopologyZone: nil, v1.CapacityTypeLabelKey: nil}
	var offerings cloudprovider.Offerings
	for _, offering := range each.Offerings {
		requirements := scheduling.NewNodeSelectorRequirements(offering.Requirements...)
		if zone := requirements.Get(corev1.LabelTopologyZone); zones != nil && requirements.Has(corev1.LabelTopologyZone) && !zones[zone.Any()] {
			continue
		}
		for key := range values {
			if requirements.Has(key) {
				values[key] = append(values[key], requirements.Get(key).Values()...)
			}
		}
		offerings = append(offerings, &cloudprovider.Offering{Available: true, Price: 1, Requirements: requirements})
	}
	capacity := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("110")}
	for name, quantity := range each.Resources {
		capacity[name] = quantity
	}
	return &cloudprovider.InstanceType{
		Name: each.Name,
		Requirements: scheduling.NewRequirements(
			in(corev1.LabelInstanceTypeStable, each.Name),
			in(corev1.LabelArchStable, each.Architecture),
			in(corev1.LabelOSStable, each.OperatingSystems...),
			in(corev1.LabelTopologyZone, values[corev1.LabelTopologyZone]...),
			in(v1.CapacityTypeLabelKey, values[v1.CapacityTypeLabelKey]...),
		),
		Offerings: offerings,
		Capacity:  capacity,
		Overhead: &cloudprovider.InstanceTypeOverhead{KubeReserved: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("10Mi"),
		}},
	}
}

type cluster struct {
	objects []client.Object
	pods    []*corev1.Pod
	nodes   []*corev1.Node
	claims  []*v1.NodeClaim
	daemons []*appsv1.DaemonSet
	pending *corev1.Pod
	cloud   *provider
}

func read(question Question) (*cluster, error) {
	found := &cluster{cloud: &provider{CloudProvider: fake.NewCloudProvider(), zones: map[string]map[string]bool{}, types: question.InstanceTypes}}
	for number, raw := range question.Objects {
		var head struct {
			Kind     string
			Metadata struct{ Name string }
			Status   struct {
				Subnets []struct{ Zone string }
			}
		}
		if err := json.Unmarshal(raw, &head); err != nil {
			return nil, err
		}
		if head.Kind == "EC2NodeClass" {
			zones := map[string]bool{}
			for _, subnet := range head.Status.Subnets {
				zones[subnet.Zone] = true
			}
			found.cloud.zones[head.Metadata.Name] = zones
			continue
		}
		decoded, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("object %d: %w", number, err)
		}
		object := decoded.(client.Object)
		object.SetUID(types.UID(fmt.Sprint(number + 1)))
		if object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0 {
			object.SetFinalizers([]string{"kept/alive"})
		}
		switch each := object.(type) {
		case *v1.NodePool:
			each.Spec.Template.Spec.NodeClassRef.Group = "karpenter.test.sh"
			each.Spec.Template.Spec.NodeClassRef.Kind = "TestNodeClass"
			// Ready is worked out anew from the other conditions, which a case need not have.
			for _, condition := range each.Status.Conditions {
				if condition.Type == status.ConditionReady && condition.Status == "True" {
					for _, other := range each.StatusConditions().List() {
						each.StatusConditions().SetTrue(other.Type)
					}
				}
			}
		case *corev1.Pod:
			if each.Name == "pend" {
				found.pending = each
			} else {
				found.pods = append(found.pods, each)
			}
		case *appsv1.DaemonSet:
			found.daemons = append(found.daemons, each)
		case *corev1.Node:
			found.nodes = append(found.nodes, each)
		case *v1.NodeClaim:
			found.claims = append(found.claims, each)
		}
		found.objects = append(found.objects, object)
	}
	for _, pod := range found.pods {
		for i, owner := range pod.OwnerReferences {
			for _, each := range found.daemons {
				if owner.Kind == "DaemonSet" && owner.Name == each.Name && pod.Namespace == each.Namespace {
					pod.OwnerReferences[i].UID = each.UID
				}
			}
		}
	}
	return found, nil
}

func decide(ctx context.Context, found *cluster) (outcome [3]string, why string, err error) {
	objects := make([]client.Object, len(found.objects))
	for i, each := range found.objects {
		objects[i] = each.DeepCopyObject().(client.Object)
	}
	byNode := func(object client.Object) []string { return []string{object.(*corev1.Pod).Spec.NodeName} }
	kube := fakeclient.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(objects...).WithStatusSubresource().
		WithIndex(&corev1.Pod{}, "spec.nodeName", byNode).Build()
	now := clock.NewFakeClock(time.Now())
	states := state.NewCluster(now, kube, found.cloud)
	for _, each := range found.nodes {
		if err := states.UpdateNode(ctx, each.DeepCopy()); err != nil {
			return outcome, "", err
		}
	}
	for _, each := range found.claims {
		states.UpdateNodeClaim(each.DeepCopy())
	}
	for _, each := range found.pods {
		if err := states.UpdatePod(ctx, each.DeepCopy()); err != nil {
			return outcome, "", err
		}
	}
	for _, each := range found.daemons {
		if err := states.UpdateDaemonSet(ctx, each); err != nil {
			return outcome, "", err
		}
	}
	pod := &corev1.Pod{}
	if err := kube.Get(ctx, client.ObjectKeyFromObject(found.pending), pod); err != nil {
		return outcome, "", err
	}
	for _, each := range found.nodes {
		// Karpenter taints a node before it marks it in memory.
		if slices.ContainsFunc(each.Spec.Taints, func(taint corev1.Taint) bool { return taint.MatchTaint(&v1.DisruptedNoScheduleTaint) }) {
			states.MarkForDeletion(each.Spec.ProviderID)
		}
	}
	provisioner := newProvisioner(kube, found.cloud, states, now)
	if err := provisioner.Validate(ctx, pod); err != nil {
		return [3]string{"Refused", "", ""}, err.Error(), nil
	}
	solver, err := newScheduler(ctx, provisioner, []*corev1.Pod{pod}, states)
	if err == provisioning.ErrNodePoolsNotFound {
		return [3]string{"Refused", "", ""}, err.Error(), nil
	}
	if err != nil {
		return outcome, "", err
	}
	results, err := solver.Solve(ctx, []*corev1.Pod{pod})
	if err != nil {
		return outcome, "", err
	}
	for _, claim := range results.NewNodeClaims {
		zones := map[string]bool{}
		allowed := claim.Requirements.Get(corev1.LabelTopologyZone)
		for _, each := range claim.InstanceTypeOptions {
			for _, offering := range each.Offerings {
				if !claim.Requirements.IsCompatible(offering.Requirements, scheduling.AllowUndefinedWellKnownLabels) {
					continue
				}
				for _, zone := range offering.Requirements.Get(corev1.LabelTopologyZone).Values() {
					if allowed.Has(zone) {
						zones[zone] = true
					}
				}
			}
		}
		return [3]string{"New", claim.NodePoolName, joined(zones)}, "", nil
	}
	for _, node := range results.ExistingNodes {
		if len(node.Pods) > 0 {
			return [3]string{"Existing", node.Name(), ""}, "", nil
		}
	}
	for _, each := range results.PodErrors {
		why = each.Error()
	}
	return [3]string{"Refused", "", ""}, why, nil
}

func joined(set map[string]bool) string {
	var found []string
	for each := range set {
		found = append(found, each)
	}
	sort.Strings(found)
	return strings.Join(found, ",")
}

func main() {
	runs := flag.Int("runs", 64, "how often each question is asked: domains are picked at random among equals")
	flag.Parse()
	log.SetLogger(logr.Discard())
	ctx := options.ToContext(context.Background(), test.Options())
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 64<<20)
	output := json.NewEncoder(os.Stdout)
	for input.Scan() {
		var question Question
		if err := json.Unmarshal(input.Bytes(), &question); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		found, err := read(question)
		answer, seen := Answer{Name: question.Name}, map[[3]string]bool{}
		for range *runs {
			if err != nil {
				break
			}
			var outcome [3]string
			outcome, answer.Why, err = decide(ctx, found)
			seen[outcome] = true
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", question.Name, err)
			os.Exit(1)
		}
		for each := range seen {
			answer.Want = append(answer.Want, each)
		}
		sort.Slice(answer.Want, func(a, b int) bool { return fmt.Sprint(answer.Want[a]) < fmt.Sprint(answer.Want[b]) })
		_ = output.Encode(answer)
	}
}
