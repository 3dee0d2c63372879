// Command crds prints the CustomResourceDefinitions of Karpenter and of its provider kwok, a JSON document a line.
package main

import (
	"encoding/json"
	"log"
	"os"
	"slices"

	kwok "sigs.k8s.io/karpenter/kwok/apis"
	"sigs.k8s.io/karpenter/pkg/apis"
)

func main() {
	output := json.NewEncoder(os.Stdout)
	for _, definition := range slices.Concat(apis.CRDs, kwok.CRDs) {
		if err := output.Encode(definition); err != nil {
			log.Fatal(err)
		}
	}
}
