package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

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
	Pod          *v1.Pod           `json:"pod"`
	Config       json.RawMessage   `json:"config"`
	KubeVersion  string            `json:"kubeVersion"`
	FeatureGates map[string]bool   `json:"featureGates"`
}

// verdict is the scheduler's answer. A plugin that panics fails its case, not the cases behind it.
func (q *question) verdict() (_ *verdict, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("the scheduler panicked: %v", reason)
		}
	}()
	if err := q.check(); err != nil {
		return nil, err
	}
	restore, err := setFeatureGates(q.FeatureGates)
	if err != nil {
		return nil, err
	}
	defer restore()
	complete(q.Pod)
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
	return cluster.decide(q.ID, q.Pod)
}

// check refuses what this program cannot answer: a case without a Pod, or one of another release.
func (q *question) check() error {
	if q.Pod == nil {
		return errors.New("the case has no pod")
	}
	if mine := release(); q.KubeVersion != "" && q.KubeVersion != mine {
		return fmt.Errorf("the case is of %s, this scheduler is %s", q.KubeVersion, mine)
	}
	return nil
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

// setFeatureGates returns what puts the gates back.
func setFeatureGates(gates map[string]bool) (restore func(), err error) {
	before := map[string]bool{}
	for name := range gates {
		if _, known := utilfeature.DefaultMutableFeatureGate.GetAll()[featuregate.Feature(name)]; !known {
			return nil, fmt.Errorf("featureGates: %s has no gate %s", release(), name)
		}
		before[name] = utilfeature.DefaultFeatureGate.Enabled(featuregate.Feature(name))
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(gates); err != nil {
		return nil, fmt.Errorf("featureGates: %w", err)
	}
	return func() { _ = utilfeature.DefaultMutableFeatureGate.SetFromMap(before) }, nil
}

// release is the minor release of the module this program is built with, such as v1.36.
func release() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "k8s.io/kubernetes" {
			built := version.MustParseSemantic(strings.TrimSuffix(module.Version, "+incompatible"))
			return fmt.Sprintf("v%d.%d", built.Major(), built.Minor())
		}
	}
	return "unknown"
}
