package main

import (
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// volumeHandlers remembers who listens to the informers of claims and volumes: VolumeBinding keeps caches of its own,
// and the scheduler does not wait for those.
type volumeHandlers struct {
	registered []cache.ResourceEventHandlerRegistration
}

// watchVolumeHandlers must come before anything else asks the factory for these informers.
func watchVolumeHandlers(factory informers.SharedInformerFactory) *volumeHandlers {
	all := &volumeHandlers{}
	byNamespace := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	factory.InformerFor(&v1.PersistentVolume{}, func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		return watched{coreinformers.NewPersistentVolumeInformer(client, resync, cache.Indexers{}), all}
	})
	factory.InformerFor(&v1.PersistentVolumeClaim{}, func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		claims := coreinformers.NewPersistentVolumeClaimInformer(client, metav1.NamespaceAll, resync, byNamespace)
		return watched{claims, all}
	})
	return all
}

func (h *volumeHandlers) synced() bool {
	for _, registration := range h.registered {
		if !registration.HasSynced() {
			return false
		}
	}
	return true
}

// watched is an informer whose handlers are remembered.
type watched struct {
	cache.SharedIndexInformer
	handlers *volumeHandlers
}

func (w watched) AddEventHandler(added cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	registration, err := w.SharedIndexInformer.AddEventHandler(added)
	w.handlers.registered = append(w.handlers.registered, registration)
	return registration, err
}
