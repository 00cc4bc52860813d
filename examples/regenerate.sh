#!/bin/sh
# The build of regenerate.py, scheduled from a shell: `pointstamp track` runs beside it and says what is ready.
set -eu
cd "$(dirname "$0")/.."
PATH=$PWD/.venv/bin:$PATH

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkfifo "$folder/steps" "$folder/answers"
pointstamp track examples/regenerate.yaml < "$folder/steps" > "$folder/answers" &
exec 3> "$folder/steps" 4< "$folder/answers"

# Takes a step. `ready` holds what became ready by it, one "module build round" a line.
step() {
    echo "$1" >&3
    read -r answer <&4
    case $answer in
        '{"error"'*) echo "regenerate: $answer" >&2; exit 1 ;;
    esac
    ready=$(echo "$answer" | grep -o '\["[a-z]*", \[[0-9]*, [0-9]*\]\]' | tr -d '[]",')
}

# Pages that so many lines fill, four on a page.
pages() {
    echo $((($1 + 3) / 4))
}

# The book: the table first, then each chapter on a new page. Gives `places`, a "chapter page" a line, and their `count`.
book() {
    page=$(pages "$(printf '%s' "$table" | grep -c .)")
    places= count=0
    for chapter in $chapters; do
        places="$places${chapter%:*} $((page + 1))
"
        page=$((page + $(pages "${chapter#*:}")))
        count=$((count + 1))
    done
    echo "build $1, round $2: a book of $page pages"
    step "{\"delivered\": [[\"book\", [$1, $2]]], \"messages\": [[\"pages\", [$1, $2], $count]]}"
    step "{\"messages\": [[\"pages\", [$1, $2], -$count]], \"requests\": [[\"contents\", [$1, $2]]]}"
}

# The table of contents: sent to the next round, unless it is the one that the book has already.
contents() {
    if [ "$places" = "$table" ]; then
        step "{\"delivered\": [[\"contents\", [$1, $2]]]}"
        return
    fi
    table=$places
    step "{\"delivered\": [[\"contents\", [$1, $2]]], \"messages\": [[\"table\", [$1, $(($2 + 1))], 1]]}"
    step "{\"messages\": [[\"table\", [$1, $(($2 + 1))], -1]], \"requests\": [[\"book\", [$1, $(($2 + 1))]]]}"
}

# One build, from its chapters ("name:lines", in order) and where the input stands after it.
build() {
    chapters=$2 table=
    set -- "$1" "$3" $chapters
    count=$(($# - 2))
    step "{\"messages\": [[\"chapters\", [$1, 0], $count]], \"inputs\": {\"chapters\": $2}}"
    step "{\"messages\": [[\"chapters\", [$1, 0], -$count]], \"requests\": [[\"book\", [$1, 0]]]}"
    while [ -n "$ready" ]; do
        $ready # "book 0 1" calls book with a build and a round
    done
    step '{"show": {"frontiers": ["printed"]}}'
    case $answer in
        *"\"printed\": [$1]"*) echo "build $1 may still change" >&2; exit 1 ;;
    esac
    echo "build $1 is complete: $(printf '%s' "$table" | paste -s -d , - | sed 's/,/, /g')"
}

build 0 'dawn:3 noon:6' '[[1, 0]]'
build 1 'dawn:3 dusk:9 eve:1 night:1 noon:6' '[]'
