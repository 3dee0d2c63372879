// Command merger answers what kubectl apply makes of an object: a triple as a line of JSON in, the patch and the object out.
//
// A line is {"apiVersion", "kind", "original", "modified", "current"}. Kinds of Kubernetes are merged strategically, by
// the tags of their Go types, all others as JSON. What cannot be merged is answered with {"error"}.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
)

type triple struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Original   json.RawMessage `json:"original"`
	Modified   json.RawMessage `json:"modified"`
	Current    json.RawMessage `json:"current"`
}

type answer struct {
	Patch  json.RawMessage `json:"patch,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

func main() {
	lines, encoder := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if err := encoder.Encode(merged(line)); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		if errors.Is(err, io.EOF) {
			return
		}
	}
}

// merged catches panics: upstream has some for lists that hold null.
func merged(line []byte) (found answer) {
	defer func() {
		if reason := recover(); reason != nil {
			found = answer{Error: fmt.Sprintf("panic: %v", reason)}
		}
	}()
	var asked triple
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{Error: err.Error()}
	}
	patch, result, err := asked.apply()
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Patch: patch, Result: result}
}

func (t triple) apply() (patch, result []byte, err error) {
	obj, err := scheme.Scheme.New(schema.FromAPIVersionAndKind(t.APIVersion, t.Kind))
	if err != nil {
		if patch, err = jsonmergepatch.CreateThreeWayJSONMergePatch(t.Original, t.Modified, t.Current); err != nil {
			return nil, nil, err
		}
		result, err = jsonpatch.MergePatch(t.Current, patch)
		return patch, result, err
	}
	meta, err := strategicpatch.NewPatchMetaFromStruct(obj)
	if err != nil {
		return nil, nil, err
	}
	if patch, err = strategicpatch.CreateThreeWayMergePatch(t.Original, t.Modified, t.Current, meta, true); err != nil {
		return nil, nil, err
	}
	var current, changes map[string]any
	if err = errors.Join(utiljson.Unmarshal(t.Current, &current), utiljson.Unmarshal(patch, &changes)); err != nil {
		return nil, nil, err
	}
	// An API server's lists have no room behind them: where they have, what is appended overwrites what is looked up.
	object, err := strategicpatch.StrategicMergeMapPatch(runtime.DeepCopyJSON(current), changes, obj)
	if err != nil {
		return nil, nil, err
	}
	result, err = json.Marshal(object)
	return patch, result, err
}
