// Command oracle answers what kube-scheduler decides about one Pod in one cluster.
//
// It reads cases as JSON lines on stdin and prints an answer for each on stdout, in their order; ../README.md has
// both formats. Nothing here decides anything: the scheduler of the k8s.io/kubernetes module this program is built
// with is fed the case's objects through its own informers, and its framework is asked plugin by plugin.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

func main() {
	klog.SetLogger(logr.Discard()) // a malformed taint is an answer, not an accident
	if err := answerAll(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// answerAll prints a line for every line read: a case that cannot be answered says why, and the next one follows.
func answerAll(in io.Reader, out io.Writer) error {
	lines, encoder := bufio.NewReader(in), json.NewEncoder(out)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if err := encoder.Encode(answer(line)); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// answer is what stands on the line for one case: a verdict or a failure.
func answer(line []byte) any {
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return failure{ID: json.RawMessage("null"), Error: fmt.Sprintf("not a case: %v", err)}
	}
	var answered *verdict
	err := catchPanics(func() (err error) {
		answered, err = asked.verdict()
		return err
	})
	if err != nil {
		return failure{ID: asked.ID, Error: err.Error()}
	}
	answered.ID = asked.ID
	return answered
}

// failure says why a case has no verdict.
type failure struct {
	ID    json.RawMessage `json:"id"`
	Error string          `json:"error"`
}
