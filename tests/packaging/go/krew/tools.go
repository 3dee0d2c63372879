//go:build tools

// Package tools names the command that the tests build: krew, as its own module builds it.
package tools

import _ "sigs.k8s.io/krew/cmd/krew"
