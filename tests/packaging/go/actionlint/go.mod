module kubectl-spread/actionlint

go 1.25

require github.com/rhysd/actionlint v1.7.12
