// Command descheduler answers which Pods the descheduler evicts for the sake of topology spread constraints.
//
// It reads cases as JSON lines on stdin, {"id", "objects", "soft"}, and prints for each a line {"id", "evictions"}: the
// Pods as namespace/name, in the order of their evictions. Nothing here decides anything: the plugin
// RemovePodsViolatingTopologySpreadConstraint of the sigs.k8s.io/descheduler module runs once, with its defaults and
// the default evictor's, against a client that holds the case's objects.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	"sigs.k8s.io/descheduler/pkg/descheduler/node"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/defaultevictor"
	spread "sigs.k8s.io/descheduler/pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint"
	frameworktesting "sigs.k8s.io/descheduler/pkg/framework/testing"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"
)

// question is one case: a cluster, and whether ScheduleAnyway constraints are to hold too.
type question struct {
	ID      string            `json:"id"`
	Objects []json.RawMessage `json:"objects"`
	Soft    bool              `json:"soft"`
}

// answer has the Pods that are evicted, or why there is none.
type answer struct {
	ID        string   `json:"id"`
	Evictions []string `json:"evictions"`
	Error     string   `json:"error,omitempty"`
}

func main() {
	klog.SetLogger(logr.Discard())
	if err := answerAll(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// answerAll prints a line for every line read.
func answerAll(in io.Reader, out io.Writer) error {
	lines, encoder := bufio.NewReader(in), json.NewEncoder(out)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if err := encoder.Encode(answered(line)); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// answered is what stands on the line for one case.
func answered(line []byte) answer {
	asked := question{}
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{Error: err.Error()}
	}
	evicted, err := asked.evicted()
	if err != nil {
		return answer{ID: asked.ID, Error: err.Error()}
	}
	return answer{ID: asked.ID, Evictions: evicted}
}

// evicted runs the plugin once.
func (q *question) evicted() ([]string, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	objects, nodes, err := q.decode()
	if err != nil {
		return nil, err
	}
	client := fake.NewSimpleClientset(objects...)
	evicted := []string{}
	client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if created, ok := action.(clienttesting.CreateAction); ok && action.GetSubresource() == "eviction" {
			eviction := created.GetObject().(*policyv1.Eviction)
			evicted = append(evicted, eviction.Namespace+"/"+eviction.Name)
		}
		return false, nil, nil
	})
	handle, _, err := frameworktesting.InitFrameworkHandle(ctx, client, nil, defaultevictor.DefaultEvictorArgs{}, nil)
	if err != nil {
		return nil, err
	}
	plugin, err := spread.New(ctx, q.arguments(), handle)
	if err != nil {
		return nil, err
	}
	status := plugin.(frameworktypes.BalancePlugin).Balance(ctx, nodes)
	if status != nil && status.Err != nil {
		return nil, status.Err
	}
	return evicted, nil
}

// arguments are the plugin's, as its own defaults complete them.
func (q *question) arguments() *spread.RemovePodsViolatingTopologySpreadConstraintArgs {
	arguments := &spread.RemovePodsViolatingTopologySpreadConstraintArgs{}
	if q.Soft {
		arguments.Constraints = []v1.UnsatisfiableConstraintAction{v1.DoNotSchedule, v1.ScheduleAnyway}
	}
	spread.SetDefaults_RemovePodsViolatingTopologySpreadConstraintArgs(arguments)
	return arguments
}

// decode is the case's objects, and the nodes among them that the descheduler looks at: those that are ready.
func (q *question) decode() ([]runtime.Object, []*v1.Node, error) {
	var objects []runtime.Object
	var nodes []*v1.Node
	for _, raw := range q.Objects {
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
		if err != nil {
			return nil, nil, err
		}
		objects = append(objects, object)
		if found, ok := object.(*v1.Node); ok && node.IsReady(found) {
			nodes = append(nodes, found)
		}
	}
	return objects, nodes, nil
}
