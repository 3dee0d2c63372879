package main

import (
	"context"
	"encoding/json"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// narrowedAway stands where a plugin would: PreFilter left the node out, and no Filter saw it.
const narrowedAway = "PreFilterResult"

// verdict is the answer to a case. Nodes and Each are by node name, Each by plugin before that.
type verdict struct {
	ID        json.RawMessage                  `json:"id"`
	PreFilter *rejection                       `json:"prefilter,omitempty"`
	Nodes     map[string]*rejection            `json:"nodes"`
	Each      map[string]map[string]*rejection `json:"each,omitempty"`
	Scores    map[string]map[string]int64      `json:"scores,omitempty"`
	Skipped   []string                         `json:"skipped,omitempty"`
}

// rejection is a Status: also that of success, which has neither plugin nor reasons.
type rejection struct {
	Code    string   `json:"code"`
	Plugin  string   `json:"plugin,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
}

// decide runs the scheduling cycle up to its scores, and every filter on its own.
func (c *cluster) decide(id json.RawMessage, pod *v1.Pod) (*verdict, error) {
	profile, nodes, err := c.profile(pod)
	if err != nil {
		return nil, err
	}
	answer := &verdict{ID: id, Nodes: map[string]*rejection{}, Each: eachAlone(c.ctx, profile, pod, nodes)}
	state := framework.NewCycleState()
	narrowed, status, _ := profile.RunPreFilterPlugins(c.ctx, state, pod)
	if !status.IsSuccess() {
		answer.PreFilter = rejected(status)
		for _, node := range nodes {
			answer.Nodes[node.Node().Name] = answer.PreFilter
		}
		return answer, nil
	}
	var feasible []nodeInfo
	for _, node := range nodes {
		name := node.Node().Name
		if leavesOut(narrowed, name) {
			answer.Nodes[name] = &rejection{Code: unresolvable, Plugin: narrowedAway}
			continue
		}
		status := profile.RunFilterPluginsWithNominatedPods(c.ctx, state, pod, node)
		answer.Nodes[name] = rejected(status)
		if status.IsSuccess() {
			feasible = append(feasible, node)
		}
	}
	return answer, answer.score(c.ctx, profile, state, pod, feasible)
}

// score adds what every plugin gives the feasible nodes, and which plugins had nothing to say.
func (a *verdict) score(ctx context.Context, profile framework.Framework, state cycleState, pod *v1.Pod, feasible []nodeInfo) error {
	if len(feasible) == 0 {
		return nil
	}
	if status := profile.RunPreScorePlugins(ctx, state, pod, feasible); !status.IsSuccess() {
		return status.AsError()
	}
	scored, status := profile.RunScorePlugins(ctx, state, pod, feasible)
	if !status.IsSuccess() {
		return status.AsError()
	}
	skipped := sets.New[string]()
	for _, plugin := range profile.ListPlugins().Score.Enabled {
		skipped.Insert(plugin.Name)
	}
	a.Scores = map[string]map[string]int64{}
	for _, node := range scored {
		points := map[string]int64{"total": node.TotalScore}
		for _, score := range node.Scores {
			points[score.Name] = score.Score
			skipped.Delete(score.Name)
		}
		a.Scores[node.Name] = points
	}
	a.Skipped = sets.List(skipped)
	return nil
}

// eachAlone is what every filter rejects when it is the only one: plugin, then node.
func eachAlone(ctx context.Context, profile framework.Framework, pod *v1.Pod, nodes []nodeInfo) map[string]map[string]*rejection {
	enabled := sets.New[string]()
	for _, plugin := range profile.ListPlugins().Filter.Enabled {
		enabled.Insert(plugin.Name)
	}
	each := map[string]map[string]*rejection{}
	// The framework hands its plugins out by what wakes a Pod they rejected. Every filter has that.
	for _, plugin := range profile.EnqueueExtensions() {
		if filter, ok := plugin.(filterPlugin); ok && enabled.Has(plugin.Name()) {
			if alone := rejectedAlone(ctx, filter, pod, nodes); len(alone) > 0 {
				each[plugin.Name()] = alone
			}
		}
	}
	return each
}

// rejectedAlone is what one filter rejects, by node; its PreFilter speaks for all nodes or for those it leaves out.
func rejectedAlone(ctx context.Context, filter filterPlugin, pod *v1.Pod, nodes []nodeInfo) map[string]*rejection {
	state := framework.NewCycleState()
	narrowed, before := preFilter(ctx, filter, state, pod, nodes)
	if before.IsSkip() {
		return nil
	}
	alone := map[string]*rejection{}
	for _, node := range nodes {
		name := node.Node().Name
		if leavesOut(narrowed, name) {
			alone[name] = &rejection{Code: unresolvable, Reasons: []string{narrowedAway}}
			continue
		}
		status := before
		if status.IsSuccess() {
			status = filter.Filter(ctx, state, pod, node)
		}
		if !status.IsSuccess() {
			alone[name] = rejected(status)
		}
	}
	return alone
}

func rejected(status *status) *rejection {
	if status.IsSuccess() { // success is often nil, which has a Code but no Plugin
		return &rejection{Code: status.Code().String()}
	}
	reasons := slices.Sorted(slices.Values(status.Reasons())) // some plugins list them in another order each time
	return &rejection{Code: status.Code().String(), Plugin: status.Plugin(), Reasons: reasons}
}

func leavesOut(narrowed *preFilterResult, node string) bool {
	return !narrowed.AllNodes() && !narrowed.NodeNames.Has(node)
}
