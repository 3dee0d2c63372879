package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
)

// question is one case: a cluster, the Pod that is to be placed in it, and how the scheduler is set up.
type question struct {
	ID           json.RawMessage   `json:"id"`
	Objects      []json.RawMessage `json:"objects"`
	Pod          json.RawMessage   `json:"pod"`
	Config       json.RawMessage   `json:"config"`
	KubeVersion  string            `json:"kubeVersion"`
	FeatureGates map[string]bool   `json:"featureGates"`
}

// verdict is the scheduler's answer.
func (q *question) verdict() (*verdict, error) {
	if mine := release(); q.KubeVersion != "" && q.KubeVersion != mine {
		return nil, fmt.Errorf("the case is of %s, this scheduler is %s", q.KubeVersion, mine)
	}
	restore, err := setFeatureGates(q.FeatureGates)
	if err != nil {
		return nil, err
	}
	defer restore()
	pod, err := q.decodePod()
	if err != nil {
		return nil, err
	}
	objects, err := q.decodeObjects()
	if err != nil {
		return nil, err
	}
	profiles, err := q.decodeProfiles()
	if err != nil {
		return nil, err
	}
	cluster, err := newCluster(objects, profiles)
	if err != nil {
		return nil, err
	}
	defer cluster.stop()
	cycle, err := cluster.cycle(pod)
	if err != nil {
		return nil, err
	}
	return cycle.verdict()
}

func (q *question) decodePod() (*v1.Pod, error) {
	pod := &v1.Pod{}
	if len(q.Pod) == 0 {
		return nil, errors.New("the case has no pod")
	}
	if err := json.Unmarshal(q.Pod, pod); err != nil {
		return nil, fmt.Errorf("pod: %w", err)
	}
	complete(pod)
	return pod, nil
}

// decodeObjects leaves out what no scheduler sees: kinds unknown to Kubernetes and Pods that have ended, which its
// Pod informer does not ask for.
func (q *question) decodeObjects() ([]runtime.Object, error) {
	objects := make([]runtime.Object, 0, len(q.Objects))
	for i, raw := range q.Objects {
		object, _, err := clientscheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
		if runtime.IsNotRegisteredError(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("objects[%d]: %w", i, err)
		}
		complete(object)
		if pod, isPod := object.(*v1.Pod); !isPod || !ended(pod) {
			objects = append(objects, object)
		}
	}
	return objects, nil
}

func ended(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
}

// decodeProfiles is nil where the case has no configuration: the default profile.
func (q *question) decodeProfiles() ([]config.KubeSchedulerProfile, error) {
	if len(q.Config) == 0 {
		return nil, nil
	}
	object, _, err := scheme.Codecs.UniversalDecoder().Decode(q.Config, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	configuration, ok := object.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("config: a %T is not a KubeSchedulerConfiguration", object)
	}
	return configuration.Profiles, nil
}

// complete fills in what the API server does when it stores an object: the defaults, and the UID without which the
// scheduler's cache takes no Pod.
func complete(object runtime.Object) {
	legacyscheme.Scheme.Default(object)
	if pod, isPod := object.(*v1.Pod); isPod && pod.UID == "" {
		pod.UID = types.UID(pod.Namespace + "/" + pod.Name)
	}
}

// setFeatureGates returns what puts the gates back. Gates that are refused may have been set in part.
func setFeatureGates(gates map[string]bool) (restore func(), err error) {
	mutable, before := utilfeature.DefaultMutableFeatureGate, map[string]bool{}
	for name := range gates {
		if _, known := mutable.GetAll()[featuregate.Feature(name)]; !known {
			return nil, fmt.Errorf("featureGates: %s has no gate %s", release(), name)
		}
		before[name] = mutable.Enabled(featuregate.Feature(name))
	}
	restore = func() { _ = mutable.SetFromMap(before) }
	if err := mutable.SetFromMap(gates); err != nil {
		restore()
		return nil, fmt.Errorf("featureGates: %w", err)
	}
	return restore, nil
}

// release is the minor release of the module this program is built with, such as v1.36.
func release() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "k8s.io/kubernetes" {
			built := version.MustParseSemantic(module.Version)
			return fmt.Sprintf("v%d.%d", built.Major(), built.Minor())
		}
	}
	return "unknown"
}
