// Rules reads a file of alerting rules as Prometheus does: expressions, templates and durations included.
package main

import (
	"fmt"
	"os"

	"github.com/prometheus/prometheus/model/rulefmt"
)

func main() {
	groups, errs := rulefmt.ParseFile(os.Args[1], false)
	for _, err := range errs {
		fmt.Fprintln(os.Stderr, err)
	}
	if len(errs) > 0 {
		os.Exit(1)
	}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			fmt.Println(rule.Alert)
		}
	}
}
