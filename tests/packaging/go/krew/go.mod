module kubectl-spread/krew

go 1.24

require sigs.k8s.io/krew v0.5.0
