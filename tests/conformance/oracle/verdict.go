package main

import (
	"encoding/json"
	"slices"
)

// verdict is the answer to a case. Nodes is by node, Each by plugin and node, Scores by node and plugin.
type verdict struct {
	ID        json.RawMessage             `json:"id"`
	PreFilter *rejection                  `json:"prefilter,omitempty"`
	Nodes     rejections                  `json:"nodes"`
	Each      map[string]rejections       `json:"each,omitempty"`
	Scores    map[string]map[string]int64 `json:"scores,omitempty"`
	Skipped   []string                    `json:"skipped,omitempty"`

	Preemption *preemption `json:"preemption,omitempty"`
}

type rejections map[string]*rejection

// rejection is a Status: also that of success, which has neither plugin nor reasons.
type rejection struct {
	Code    string   `json:"code"`
	Plugin  string   `json:"plugin,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
}

func rejected(status *status) *rejection {
	if status.IsSuccess() { // success is often nil, which has a Code but no Plugin
		return &rejection{Code: status.Code().String()}
	}
	reasons := slices.Sorted(slices.Values(status.Reasons())) // some plugins list them in another order each time
	return &rejection{Code: status.Code().String(), Plugin: status.Plugin(), Reasons: reasons}
}
