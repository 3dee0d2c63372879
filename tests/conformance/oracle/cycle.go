package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// narrowedAway stands where a plugin or a reason would: PreFilter left the node out, and no Filter saw it.
const narrowedAway = "PreFilterResult"

// cycle is one Pod's turn: its profile, and the nodes it might go to.
type cycle struct {
	ctx     context.Context
	profile framework.Framework
	pod     *v1.Pod
	nodes   []nodeInfo
	budgets []*policyv1.PodDisruptionBudget
}

// verdict runs the scheduling cycle up to its scores, and every filter on its own.
func (c *cycle) verdict() (*verdict, error) {
	answer := &verdict{Nodes: rejections{}, Each: c.eachAlone()}
	state := framework.NewCycleState()
	narrowed, status, _ := c.profile.RunPreFilterPlugins(c.ctx, state, c.pod)
	if !status.IsSuccess() {
		answer.PreFilter = rejected(status)
		for _, node := range c.nodes {
			answer.Nodes[node.Node().Name] = answer.PreFilter
		}
		return answer, nil
	}
	statuses := statusByNode{}
	feasible := c.filter(state, narrowed, answer.Nodes, statuses)
	if len(feasible) == 0 {
		var err error
		answer.Preemption, err = c.preempt(state, statuses)
		return answer, err
	}
	return answer, c.score(state, feasible, answer)
}

// filter notes what rejects each node first, and returns the nodes that nothing does. Statuses are of the nodes looked at.
func (c *cycle) filter(state cycleState, narrowed *preFilterResult, into rejections, statuses statusByNode) (feasible []nodeInfo) {
	for _, node := range c.nodes {
		name := node.Node().Name
		if leavesOut(narrowed, name) {
			into[name] = &rejection{Code: unresolvable, Plugin: narrowedAway}
			continue
		}
		status := c.profile.RunFilterPluginsWithNominatedPods(c.ctx, state, c.pod, node)
		into[name] = rejected(status)
		statuses[name] = status
		if status.IsSuccess() {
			feasible = append(feasible, node)
		}
	}
	return feasible
}

// score notes what every plugin gives the feasible nodes, and which plugins had nothing to say.
func (c *cycle) score(state cycleState, feasible []nodeInfo, into *verdict) error {
	if status := c.profile.RunPreScorePlugins(c.ctx, state, c.pod, feasible); !status.IsSuccess() {
		return status.AsError()
	}
	scored, status := c.profile.RunScorePlugins(c.ctx, state, c.pod, feasible)
	if !status.IsSuccess() {
		return status.AsError()
	}
	skipped := sets.New[string]()
	for _, plugin := range c.profile.ListPlugins().Score.Enabled {
		skipped.Insert(plugin.Name)
	}
	into.Scores = map[string]map[string]int64{}
	for _, node := range scored {
		points := map[string]int64{"total": node.TotalScore}
		for _, score := range node.Scores {
			points[score.Name] = score.Score
			skipped.Delete(score.Name)
		}
		into.Scores[node.Name] = points
	}
	into.Skipped = sets.List(skipped)
	return nil
}

// eachAlone is what every filter rejects when it is the only one, by plugin.
func (c *cycle) eachAlone() map[string]rejections {
	enabled := sets.New[string]()
	for _, plugin := range c.profile.ListPlugins().Filter.Enabled {
		enabled.Insert(plugin.Name)
	}
	each := map[string]rejections{}
	// The framework hands its plugins out by what wakes a Pod they rejected. Every filter has that.
	for _, plugin := range c.profile.EnqueueExtensions() {
		if filter, ok := plugin.(filterPlugin); ok && enabled.Has(plugin.Name()) {
			if alone := c.rejectedBy(filter); len(alone) > 0 {
				each[plugin.Name()] = alone
			}
		}
	}
	return each
}

// rejectedBy is what one filter rejects; its PreFilter may speak for all nodes, or for those it leaves out.
func (c *cycle) rejectedBy(filter filterPlugin) rejections {
	state := framework.NewCycleState()
	narrowed, before := preFilter(c.ctx, filter, state, c.pod, c.nodes)
	if before.IsSkip() {
		return nil
	}
	alone := rejections{}
	for _, node := range c.nodes {
		name, status := node.Node().Name, before
		if leavesOut(narrowed, name) {
			alone[name] = &rejection{Code: unresolvable, Reasons: []string{narrowedAway}}
			continue
		}
		if status.IsSuccess() {
			status = c.filterTwice(filter, state, node)
		}
		if !status.IsSuccess() {
			alone[name] = rejected(status)
		}
	}
	return alone
}

// filterTwice asks one filter as RunFilterPluginsWithNominatedPods asks all of them: with the Pods nominated to the node
// that go before this one, then without.
func (c *cycle) filterTwice(filter filterPlugin, state cycleState, node nodeInfo) *status {
	with, there := state.Clone(), node.Snapshot()
	for _, nominated := range c.profile.NominatedPodsForNode(node.Node().Name) {
		pod := podOf(nominated)
		if corev1helpers.PodPriority(pod) < corev1helpers.PodPriority(c.pod) || pod.UID == c.pod.UID {
			continue
		}
		there.AddPodInfo(nominated)
		if status := addPod(c.ctx, filter, with, c.pod, nominated, there); !status.IsSuccess() {
			return status
		}
	}
	if status := filter.Filter(c.ctx, with, c.pod, there); !status.IsSuccess() {
		return status
	}
	return filter.Filter(c.ctx, state, c.pod, node)
}

func leavesOut(narrowed *preFilterResult, node string) bool {
	return !narrowed.AllNodes() && !narrowed.NodeNames.Has(node)
}
