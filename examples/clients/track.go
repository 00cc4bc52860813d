// A client of `pointstamp track` for Go: go run track.go loop.yaml
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
)

type Pair [2]interface{} // a node and a time
type Step map[string]interface{}
type Refused struct{ Code, Message, Hint string }
type Answer struct {
	Ready     []Pair
	Frontiers map[string][]interface{}
	Error     *Refused
}

func (r *Refused) Error() string { return r.Code + ": " + r.Message }

type Tracker struct {
	lines   io.WriteCloser
	answers *json.Decoder
}

func Start(graph string) (*Tracker, error) {
	process := exec.Command("pointstamp", "track", graph)
	process.Stderr = os.Stderr
	lines, _ := process.StdinPipe()
	answers, _ := process.StdoutPipe()
	return &Tracker{lines, json.NewDecoder(answers)}, process.Start()
}

// Step is atomic; one that is refused gives a *Refused, and changes nothing.
func (t *Tracker) Step(step Step) (answer Answer, err error) {
	if err = json.NewEncoder(t.lines).Encode(step); err == nil {
		err = t.answers.Decode(&answer)
	}
	if err == nil && answer.Error != nil {
		err = answer.Error
	}
	return answer, err
}

func main() {
	tracker, err := Start(os.Args[1])
	if err != nil {
		panic(err)
	}
	defer tracker.lines.Close()
	tracker.Step(Step{"messages": [][]interface{}{{"input", 0, 1}}, "requests": []Pair{{"body", 0}}})
	tracker.Step(Step{"inputs": map[string][]int{"input": {}}}) // nothing more will come in
	answer, _ := tracker.Step(Step{"messages": [][]interface{}{{"input", 0, -1}, {"out", 0, 1}}})
	for _, ready := range answer.Ready {
		fmt.Printf("%v is complete at %v\n", ready[0], ready[1])
		tracker.Step(Step{"delivered": []Pair{ready}, "messages": [][]interface{}{{"out", 0, -1}}})
	}
	if _, err := tracker.Step(Step{"delivered": []Pair{{"body", 7}}}); err != nil {
		fmt.Println("refused:", err.(*Refused).Code)
	}
}
