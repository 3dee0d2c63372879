module kubectl-spread/descheduler

go 1.26.0

require sigs.k8s.io/descheduler v0.36.0

// Modules it depends on ask for a kube-openapi that nobody serves, which its own go.mod replaces with this.
replace k8s.io/kube-openapi => k8s.io/kube-openapi v0.0.0-20260512234627-ef417d054102
