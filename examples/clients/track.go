// A client of `pointstamp track` for Go: go run track.go loop.yaml
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
)

type Step map[string]any // messages, requests, delivered, inputs, show
type Refused struct{ Code, Message, Hint string }
type Answer struct {
	Ready     [][2]any // nodes and times
	Frontiers map[string][]any
	*Refused  `json:"error"`
}
type Tracker struct {
	io.WriteCloser
	answers *json.Decoder
}

func Start(graph string) (*Tracker, error) {
	process := exec.Command("pointstamp", "track", graph)
	process.Stderr = os.Stderr
	lines, _ := process.StdinPipe()
	answers, _ := process.StdoutPipe()
	return &Tracker{lines, json.NewDecoder(answers)}, process.Start()
}

func (r *Refused) Error() string { return r.Code + ": " + r.Message }

// Step is atomic; one that is refused gives a *Refused, and changes nothing.
func (t *Tracker) Step(step Step) (answer Answer, err error) {
	if err = json.NewEncoder(t).Encode(step); err == nil {
		err = t.answers.Decode(&answer)
	}
	if answer.Refused != nil {
		err = answer.Refused
	}
	return answer, err
}

func main() {
	tracker, _ := Start(os.Args[1])
	tracker.Step(Step{"messages": [][3]any{{"input", 0, 1}}, "requests": [][2]any{{"body", 0}}})
	tracker.Step(Step{"inputs": map[string][]int{"input": {}}}) // nothing more will come in
	answer, _ := tracker.Step(Step{"messages": [][3]any{{"input", 0, -1}, {"out", 0, 1}}})
	for _, ready := range answer.Ready {
		fmt.Printf("%v is complete at %v\n", ready[0], ready[1])
		tracker.Step(Step{"delivered": [][2]any{ready}, "messages": [][3]any{{"out", 0, -1}}})
	}
	_, err := tracker.Step(Step{"delivered": [][2]any{{"body", 7}}})
	fmt.Println("refused:", err.(*Refused).Code)
	tracker.Close()
}
