package main

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
)

// statusByNode is what the filters said of the nodes they have seen.
type statusByNode map[string]*status

// preemption is what the scheduler would evict: Chosen the node it decides for, Candidates by node.
type preemption struct {
	Chosen     string              `json:"chosen"`
	Candidates map[string]eviction `json:"candidates"`
}

// eviction is who has to leave a node, the most important Pod first, and how many of them a budget protects.
type eviction struct {
	Victims    []string `json:"victims"`
	Violations int64    `json:"violations"`
}

// preempt runs the scheduler's dry run on every node where only Pods are in the way. It is nil where that is of no use.
func (c *cycle) preempt(state cycleState, statuses statusByNode) (*preemption, error) {
	plugin := c.defaultPreemption()
	if plugin == nil || c.hasFailed(statuses) || !c.mayPreempt(plugin, statuses) {
		return nil, nil
	}
	var potential []nodeInfo
	for _, node := range c.nodes {
		if status := statuses[node.Node().Name]; status.Code().String() == unschedulable {
			potential = append(potential, node)
		}
	}
	if len(potential) == 0 {
		return nil, nil
	}
	found, _, err := plugin.Evaluator.DryRunPreemption(c.ctx, state, c.pod, potential, c.budgets, 0, int32(len(potential)))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	answer := &preemption{Candidates: map[string]eviction{}}
	for _, candidate := range found {
		evicted := eviction{Violations: candidate.Victims().NumPDBViolations}
		for _, pod := range candidate.Victims().Pods {
			evicted.Victims = append(evicted.Victims, pod.Namespace+"/"+pod.Name)
		}
		answer.Candidates[candidate.Name()] = evicted
	}
	answer.Chosen = plugin.Evaluator.SelectCandidate(c.ctx, found).Name()
	return answer, nil
}

// defaultPreemption is nil in a profile without it.
func (c *cycle) defaultPreemption() *defaultpreemption.DefaultPreemption {
	for _, enabled := range c.profile.ListPlugins().PostFilter.Enabled {
		for _, plugin := range c.profile.EnqueueExtensions() {
			if found, ok := plugin.(*defaultpreemption.DefaultPreemption); ok && enabled.Name == plugin.Name() {
				return found
			}
		}
	}
	return nil
}

// hasFailed is whether a filter broke down, which ends the Pod's turn before anybody is evicted.
func (c *cycle) hasFailed(statuses statusByNode) bool {
	for _, status := range statuses {
		if !status.IsRejected() {
			return true
		}
	}
	return false
}

// mayPreempt is whether the Pod may evict others now; a node no filter has seen counts as one that nothing opens.
func (c *cycle) mayPreempt(plugin *defaultpreemption.DefaultPreemption, statuses statusByNode) bool {
	nominated, seen := statuses[c.pod.Status.NominatedNodeName]
	if !seen {
		nominated = absent
	}
	may, _ := plugin.PodEligibleToPreemptOthers(c.ctx, c.pod, nominated)
	return may
}

// budgetsAmong is every PodDisruptionBudget.
func budgetsAmong(objects []runtime.Object) (budgets []*policyv1.PodDisruptionBudget) {
	for _, object := range objects {
		if budget, ok := object.(*policyv1.PodDisruptionBudget); ok {
			budgets = append(budgets, budget)
		}
	}
	return budgets
}
