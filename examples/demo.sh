#!/bin/sh
# What `make demo` shows: a good and a bad graph, the finding explained, two questions answered, a pipeline run.
set -eu
cd "$(dirname "$0")/.."
PATH=$PWD/.venv/bin:$PATH
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

bold=
plain=
if [ -t 1 ]; then
    bold=$(printf '\033[1m')
    plain=$(printf '\033[0m')
fi

heading() {
    printf '\n%s%s%s\n\n' "$bold" "$*" "$plain"
}

# Shows a command, runs it, and compares its exit code with the one that it should have.
run() {
    expected=$1
    shift
    printf '$ pointstamp %s\n' "$*"
    code=0
    pointstamp "$@" || code=$?
    if [ "$code" != "$expected" ]; then
        echo "demo: the exit code is $code instead of $expected" >&2
        exit 1
    fi
}

# Shows a question, its answer, and the answer in words.
ask() {
    printf "\$ echo '%s' | pointstamp ask %s\n" "$2" "$1"
    echo "$2" | pointstamp ask "$1"
    printf '\n%s\n' "$3"
}

heading "1. A good loop, as a graph file. Is it sound?"
cat examples/loop.yaml
echo
run 0 check examples/loop.yaml

heading "2. The same loop with one wrong number: 'feedback' takes a round off. The exit code is 1, which stops a build."
run 1 check examples/broken_loop.yaml

heading "3. What does PS201 mean, and what would be right?"
run 0 explain PS201

heading "4. Back to the good loop. A message of round 0 waits on 'input'. May it lead to one of round 1 on 'back'?"
ask examples/loop.yaml '{"could_result_in": [["input", 0], ["back", 1]]}' \
    "Yes, and the proof is the way with its rounds: once round the loop."

heading "5. A message of round 3 is on its way, on 'out'. May 'body' be told that round 3 is complete? And round 4?"
ask examples/loop.yaml '{"eligible": {"messages": [["out", 3]], "requests": [["body", 3], ["body", 4]]}}' \
    "Round 3 yes: that message can only come back as round 4. Round 4 not yet, and the proof says why."

heading "6. Code at the nodes: 60 files, a day each, some of them late. A month's report is written once, when its files have come."
cd examples/pipelines/month
run 0 run pipeline.py --input files=files.jsonl --output totals=/dev/null --engine sim --trace "$made/month.jsonl"

heading "7. The run can be looked at again. Why did the report of month 1 wait at line 96, when February had begun?"
printf '$ pointstamp replay graph.yaml %s/month.jsonl --at 96 --why month=1 | tail -n 2\n' "$made"
pointstamp replay graph.yaml "$made/month.jsonl" --at 96 --why month=1 | tail -n 2
printf '\n%s\n' "The file of 17 January had not come, and nobody had said that it would not."

heading "Next: describe your own graph in ten lines of YAML, as README.md does, and run .venv/bin/pointstamp check on it."
