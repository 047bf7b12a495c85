#!/bin/sh
# Measures on real JVMs: our dump beside the JVM's own (jcmd GC.heap_dump), and what the agent costs until a dump is
# asked for. Both sides run in one process, in turn, several times; medians are shown, since machines are shared.
# Prints Markdown; with --keep it also replaces the measured part of docs/benchmarks.md.
# Usage: tools/bench.sh [--keep]
#   HEAP_MB=100                the heap that is dumped (docs/benchmarks.md: 200)
#   SHAPE='20 15 25 40'        percent of it that is small objects, maps, strings, large arrays
#   ROUNDS=3  RUNS=5           repetitions of the dumps, and of the runs without a dump
#   THREADS=2000 VIRTUAL=100000    threads that come and go in the runs without a dump (there: 20000 and 1000000; with
#                                  few of them the time is that of the JIT compiler, and the ratio too kind)
#   JDKS='11 17 21 25'         which of target/jdks/; those without jcmd are left out of the dumps
#   AGENT=...                  another libhprof_rs.so
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=$root/target/bench
heap_mb=${HEAP_MB:-100}
shape=${SHAPE:-20 15 25 40}
rounds=${ROUNDS:-3}
runs=${RUNS:-5}
threads=${THREADS:-2000}
virtual=${VIRTUAL:-100000}
jdks=${JDKS:-$(cd "$root/target/jdks" && ls -d ?? | sort -n)}
keep=${1:-}
load=$(cut -d" " -f1 /proc/loadavg)
settings="-Xmx$((heap_mb * 3))m -XX:+UseG1GC"

rm -rf "$work"
mkdir -p "$work/classes"
shm=$(mktemp -d /dev/shm/hprof-bench.XXXXXX)
java=
number=0
trap '[ -z "$java" ] || kill $java 2>/dev/null || true; rm -rf "$shm"' EXIT
trap 'exit 1' INT TERM
# A copy: somebody may build another agent meanwhile.
cp "${AGENT:-$root/target/release/libhprof_rs.so}" "$work/libhprof_rs.so"
javac --release 8 -Xlint:-options -d "$work/classes" "$root/benches/java/Subject.java"

say() { echo "bench: $*" >&2; }
now_ms() { echo $(($(date +%s%N) / 1000000)); }
memory_kb() { awk -v name="$1:" '$1 == name { print $2 }' "/proc/$java/status"; }
ask() { echo "$1" >&3; read -r answer <&4 || { cat "$work/java.err" >&2; exit 1; }; }

# ---- our dump beside the JVM's own

# dump KIND FILE: has one dump made.
dump() {
    case $1 in
        # The quotes reach jcmd: without them it takes the equals signs for its own.
        ours) set -- JVMTI.agent_load "$work/libhprof_rs.so" "\"heap=dump,file=$2,verbose=n\"" ;;
        live) set -- GC.heap_dump "$2" ;;
        all) set -- GC.heap_dump -all "$2" ;;
        empty) set -- VM.version ;;
    esac
    "$home/bin/jcmd" "$java" "$@" >"$work/jcmd.out" 2>&1 || { cat "$work/jcmd.out" "$work/java.err" >&2; exit 1; }
}

# measure KIND WHERE FOLDER: one dump, then a collection, so that each begins alike; appends JDK, where, kind,
# pause µs, total ms, synced ms, bytes, growth KiB, the collection's µs.
measure() {
    number=$((number + 1))
    file=$3/$number.hprof                     # a new name: the agent never writes to one twice
    ask begin
    before=$(memory_kb VmRSS)
    echo 5 >"/proc/$java/clear_refs"         # the peak begins anew
    start=$(now_ms)
    dump "$1" "$file"
    end=$(now_ms)
    [ "$1" = empty ] || sync "$file"
    synced=$(now_ms)
    ask end
    pause=$answer
    growth=$(($(memory_kb VmHWM) - before))
    ask gc
    bytes=0
    [ "$1" = empty ] || bytes=$(wc -c <"$file") || { cat "$work/jcmd.out" "$work/java.err" >&2; exit 1; }
    echo "$jdk $2 $1 $pause $((end - start)) $((synced - start)) $bytes $growth $answer" >>"$work/dumps"
    rm -f "$file"
}

dumps_on() {
    jdk=$1
    home=$root/target/jdks/$jdk
    rm -f "$work/in" "$work/out"
    mkfifo "$work/in" "$work/out"
    # shellcheck disable=SC2086
    "$home/bin/java" $settings -XX:+EnableDynamicAgentLoading -cp "$work/classes" Subject dump "$heap_mb" $shape \
        <"$work/in" >"$work/out" 2>"$work/java.err" &
    java=$!
    exec 3>"$work/in" 4<"$work/out"
    read -r answer <&4 || { cat "$work/java.err" >&2; exit 1; }
    dump empty                                # so that nobody pays for what happens once
    round=0
    kinds='empty ours live all'
    while [ $round -lt "$rounds" ]; do
        for kind in $kinds; do
            measure "$kind" RAM "$shm"
            measure "$kind" disk "$work"
        done
        kinds="${kinds#* } ${kinds%% *}"      # another one begins
        round=$((round + 1))
    done
    exec 3>&- 4<&-
    wait $java || true
    java=
}

# ---- the cost until a dump is asked for

# runs_on JDK: appends JDK, variant, phase, ms, processor ms.
runs_on() {
    run=0
    while [ $run -lt "$runs" ]; do
        for variant in none agent; do
            agent=
            [ $variant = none ] || agent="-agentpath:$work/libhprof_rs.so=heap=dump,file=$work/unwanted.hprof,doe=n"
            # shellcheck disable=SC2086
            "$root/target/jdks/$1/bin/java" $settings $agent -cp "$work/classes" Subject run "$heap_mb" "$threads" "$virtual" \
                >"$work/run" 2>"$work/java.err" || { cat "$work/java.err" >&2; exit 1; }
            sed "s/^/$1 $variant /" "$work/run" >>"$work/runs"
        done
        run=$((run + 1))
    done
}

for jdk in $jdks; do
    if [ "$jdk" -ge 11 ] && [ -x "$root/target/jdks/$jdk/bin/jcmd" ]; then
        say "dumps on Java $jdk"
        dumps_on "$jdk"
    fi
done
for jdk in $jdks; do
    say "runs without a dump on Java $jdk"
    runs_on "$jdk"
done

# ---- the report

medians='
function sorted(list, array,    n, i, j, held) {
    n = split(list, array, " ")
    for (i = 2; i <= n; i++) {
        held = array[i] + 0
        for (j = i - 1; j > 0 && array[j] + 0 > held; j--) array[j + 1] = array[j]
        array[j + 1] = held
    }
    return n
}
function median(list,    array, n) { n = sorted(list, array); return n % 2 ? array[(n + 1) / 2] : (array[n / 2] + array[n / 2 + 1]) / 2 }
function most(list,    array, n) { n = sorted(list, array); return array[n] + 0 }
function over(a, b) { return b > 0 ? sprintf("%.2f", a / b) : "–" }
'

dump_table() {
    awk "$medians"'
    {
        key = $1 " " $2
        if (!(key in seen)) { seen[key] = 1; order[++groups] = key }
        pause[key, $3] = pause[key, $3] " " $4 / 1000
        total[key, $3] = total[key, $3] " " $5
        synced[key, $3] = synced[key, $3] " " $6
        bytes[key, $3] = bytes[key, $3] " " $7 / 1000000
        growth[key, $3] = growth[key, $3] " " $8 / 1024
        gc[key, $3] = gc[key, $3] " " $9 / 1000
    }
    function row(key, kind, label) {
        split(key, part, " ")
        printf "| %s | %s | %s | %.1f | %d | %d | %.1f | %d | %d |\n", part[1], part[2], label, median(pause[key, kind]),
            median(total[key, kind]), median(synced[key, kind]), median(bytes[key, kind]), most(growth[key, kind]), median(gc[key, kind])
    }
    function net(times, key, kind) { return median(times[key, kind]) - median(times[key, "empty"]) }
    function ratio(key, kind, label) {
        split(key, part, " ")
        printf "| %s | %s | **%s** | **%s** | **%s** | **%s** | **%s** | **%s** | **%s** |\n", part[1], part[2], label,
            over(median(pause[key, "ours"]), median(pause[key, kind])),
            over(net(total, key, "ours"), net(total, key, kind)),
            over(net(synced, key, "ours"), net(synced, key, kind)),
            over(median(bytes[key, "ours"]), median(bytes[key, kind])),
            most(growth[key, kind]) < 5 ? "–" : over(most(growth[key, "ours"]), most(growth[key, kind])),
            over(median(gc[key, "ours"]), median(gc[key, kind]))
    }
    END {
        print "| Java | on | what | pause, ms | total, ms | synced, ms | file, MB | memory, MB | GC after, ms |"
        print "|---|---|---|--:|--:|--:|--:|--:|--:|"
        for (group = 1; group <= groups; group++) {
            key = order[group]
            row(key, "ours", "hprof-rs")
            row(key, "live", "`jcmd`")
            row(key, "all", "`jcmd -all`")
            row(key, "empty", "no dump")
            ratio(key, "live", "ours / `jcmd`")
            ratio(key, "all", "ours / `jcmd -all`")
        }
    }' "$work/dumps"
}

run_table() {
    awk "$medians"'
    {
        key = $1 " " $3
        if (!(key in seen)) { seen[key] = 1; order[++groups] = key }
        time[key, $2] = time[key, $2] " " $4
        cpu[key, $2] = cpu[key, $2] " " $5
    }
    END {
        print "| Java | work | no agent, ms | agent, ms | ratio | no agent, CPU ms | agent, CPU ms | ratio |"
        print "|---|---|--:|--:|--:|--:|--:|--:|"
        for (group = 1; group <= groups; group++) {
            key = order[group]
            split(key, part, " ")
            a = median(time[key, "none"]); b = median(time[key, "agent"])
            c = median(cpu[key, "none"]); d = median(cpu[key, "agent"])
            printf "| %s | %s | %d | %d | **%s** | %d | %d | **%s** |\n", part[1], part[2], a, b, over(b, a), c, d, over(d, c)
        }
    }' "$work/runs"
}

report() {
    echo "Measured $(date -u +%Y-%m-%d) on $(nproc) cores ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1))," \
        "$(awk '/^MemTotal/ { printf "%.0f GB", $2 / 1048576 }' /proc/meminfo) of memory, Linux $(uname -r);" \
        "load average when it began: $load."
    echo "Java: $(for jdk in $jdks; do "$root/target/jdks/$jdk/bin/java" -version 2>&1 | sed -n '1s/.*"\(.*\)".*/\1/p'; done \
        | paste -sd ' ' | sed 's/ /, /g'); \`$settings\`."
    echo
    echo "### Our dump beside the JVM's own"
    echo
    echo "A heap of about $heap_mb MB ($(echo "$shape" | awk '{ printf "%s %% small objects, %s %% maps, %s %% strings, %s %% large arrays", $1, $2, $3, $4 }'));" \
        "medians of $rounds rounds, memory the largest of them."
    echo
    dump_table
    echo
    echo "### Until a dump is asked for"
    echo
    echo "\`fill\` makes the heap above, \`threads\` starts and ends $threads platform threads, \`virtual\` $virtual virtual" \
        "threads that yield three times and park once; medians of $runs runs in turn. CPU is the processor time of the" \
        "whole JVM, the better measure on a busy machine."
    echo
    run_table
}

page=$root/docs/benchmarks.md
report >"$work/report.md"
cat "$work/report.md"
if [ "$keep" = --keep ]; then
    sed '/<!-- measured/q' "$page" >"$work/page.md"
    { cat "$work/page.md"; echo; cat "$work/report.md"; } >"$page"
    say "kept in docs/benchmarks.md"
fi
