//go:build tools

// Package tools names the command that the tests build: what checks GitHub's workflows, as its own module builds it.
package tools

import _ "github.com/rhysd/actionlint/cmd/actionlint"
