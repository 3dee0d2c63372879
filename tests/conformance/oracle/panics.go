package main

import (
	"context"
	"fmt"
	"sync/atomic"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// panicked is why one of the framework's own goroutines panicked since the case began, nil where none did.
var panicked atomic.Pointer[string]

func init() {
	utilruntime.ReallyCrash = false
	utilruntime.PanicHandlers = append(utilruntime.PanicHandlers, func(_ context.Context, reason any) { notePanic(reason) })
}

func notePanic(reason any) {
	text := fmt.Sprint(reason)
	panicked.CompareAndSwap(nil, &text)
}

// catchPanics turns a panic into an error: where kube-scheduler would crash, one case fails and the next one follows.
func catchPanics(decide func() error) (err error) {
	panicked.Store(nil)
	defer func() {
		if reason := recover(); reason != nil {
			notePanic(reason)
		}
		if reason := panicked.Load(); reason != nil {
			err = fmt.Errorf("kube-scheduler panicked: %s", *reason)
		}
	}()
	return decide()
}
