#!/usr/bin/env bash
# Runs each command that reads a file on every dump of a folder, and compares the counts of classes with hprof-slurp's.
# usage: tools/foreign-dumps.sh FOLDER [HPROF], after tools/fetch-readers.sh; HPROF is target/release/hprof by default
# A command that panics, is killed, or ends with another code than 0, 1 or 2 is a failure, as is a class that is counted otherwise.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:?a folder with dumps}
hprof=${2:-$root/target/release/hprof}
slurp=$root/target/readers/bin/hprof-slurp
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
commands=("check" "histo" "leaks" "histo --objects" "histo --retained" "histo --by loader"
    "threads" "waste" "sites" "histo --unreachable" "diff $scratch/same" "show"
    "report -o $scratch/out.html" "convert -o $scratch/out/" "convert -o $scratch/out.txt"
    "convert -o $scratch/out.svg" "convert -o $scratch/out.hprof --redact" "convert -o $scratch/out.hprof")
dumps=0 runs=0 failures=0 same=0 damaged=0 refused=0

# Counts of objects by class in these answers together, one class a line, sorted.
counts() {
    python3 -c '
import collections, json, sys
rows = []
for path in sys.argv[1:]:
    answer = json.load(open(path))
    rows += answer["classes"] if "classes" in answer else answer["heap"]["top_allocated_classes"]
sums = collections.Counter()
for row in rows:
    name = row.get("class") or row["class_name"]
    # Class objects are rows of the reader only.
    if name != "java.lang.Class":
        sums[name] += row.get("instances") or row["instance_count"]
for name, count in sorted(sums.items()):
    if count:
        print(count, name)
' "$@"
}

compare() {
    local plain=$1
    case $1 in *.gz) plain=$scratch/plain && gzip -dc "$1" >"$plain" ;; esac
    "$slurp" "$plain" --json --output "$scratch/slurp.json" --top 1000000 >"$scratch/slurp.txt" 2>&1 || return 2
    [ -s "$scratch/slurp.json" ] && counts "$scratch/slurp.json" >"$scratch/theirs" || return 2
    # hprof-slurp adds up the heap dumps of a file.
    local number=1
    rm -f "$scratch"/histo.*.json
    while "$hprof" histo --json --dump $number "$1" 2>/dev/null >"$scratch/histo.json"; do
        mv "$scratch/histo.json" "$scratch/histo.$number.json" && number=$((number + 1))
    done
    [ $number -gt 1 ] || return 2
    counts "$scratch"/histo.*.json >"$scratch/ours"
    diff "$scratch/ours" "$scratch/theirs" >"$scratch/differences"
}

for dump in "$folder"/*; do
    [ -f "$dump" ] || continue
    dumps=$((dumps + 1)) codes=
    ln -sf "$(realpath "$dump")" "$scratch/same"
    for command in "${commands[@]}"; do
        rest=
        case $command in show) rest=java.lang.Thread ;; esac
        # shellcheck disable=SC2086
        timeout 300 "$hprof" $command "$dump" $rest >"$scratch/said" 2>&1
        code=$?
        runs=$((runs + 1)) codes="$codes $code"
        rm -rf "$scratch"/out*
        if [ $code -gt 2 ] || grep -q "panicked at" "$scratch/said"; then
            failures=$((failures + 1))
            echo "FAILED $(basename "$dump"): hprof $command: $code"
            tail -3 "$scratch/said"
        fi
    done
    case $codes in *" 1 "*) damaged=$((damaged + 1)) ;; esac
    compare "$dump"
    case $? in
    0) same=$((same + 1)) verdict="the same counts as hprof-slurp" ;;
    1) failures=$((failures + 1)) verdict="OTHER COUNTS than hprof-slurp: $(grep -c '^[<>]' "$scratch/differences") rows" ;;
    *) refused=$((refused + 1)) verdict="not compared" ;;
    esac
    printf '%-50s %s  %s\n' "$(basename "$dump")" "$codes" "$verdict"
    [ -s "$scratch/differences" ] && head -6 "$scratch/differences"
    rm -f "$scratch/differences"
done
echo "$dumps files, $runs runs, $same compared and equal, $refused not compared, $damaged with damage, $failures failures"
[ $failures = 0 ]
