#!/bin/sh
# Measures on real JVMs: our dump beside the JVM's own (jcmd GC.heap_dump), what the agent costs until a dump is
# asked for, what profiles cost, and what they cost beside the HPROF agent that JDK 8 still has. All sides run in turn, the dumps in
# one process, several times; medians are shown, since machines are shared.
# Prints Markdown; docs/benchmarks.md keeps the rows that carry a claim, and tools/pause-chart.sh draws them.
# Usage: tools/bench.sh
#   HEAP_MB=200                the heap that is dumped (docs/benchmarks.md: 1000)
#   SHAPE='20 15 25 40'        percent of it that is small objects, maps, strings, large arrays
#   ORDER=sequential           objects refer to each other in the order in which they lie in memory, or 'shuffled' or 'random';
#                              'sequential shuffled' measures one after the other
#   ROUNDS=3  RUNS=5           repetitions of the dumps, and of the runs without a dump
#   THREADS=2000 VIRTUAL=100000    threads that come and go in the runs without a dump (there: 20000 and 1000000; with
#                                  few of them the time is that of the JIT compiler, and the ratio too kind)
#   ENTRIES=4000000  WORKS='G1:replace:1 ...'    entries of the map, and the applications that work (collector, work, threads)
#   PARTS='dumps working analysis runs profiles sampled classic answers'   what to measure. The last
#                              needs the HPROF agent that a JDK 8 has; without it that part is left out, or refused if asked for
#   PROFILES='heap=sites ...'  the options whose costs are measured
#   SAMPLED_JVMS=12            JVMs without and with `heap=sites`, in turn: few of them show nothing but noise
#   SAMPLED_PAIRS=300          rounds of one JVM without and with samples, switched by the agent's socket
#   JDKS='11 17 21 25'         which of target/jdks/; not 8, whose jcmd loads no agent: 'classic' alone measures it, always
#   AGENT=...                  another libhprof_rs.so
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=$root/target/bench
heap_mb=${HEAP_MB:-200}
shape=${SHAPE:-20 15 25 40}
orders=${ORDER:-sequential}
rounds=${ROUNDS:-3}
runs=${RUNS:-5}
threads=${THREADS:-2000}
virtual=${VIRTUAL:-100000}
jdks=${JDKS:-$(cd "$root/target/jdks" && ls -d ?? | sort -n)}
classic=$root/target/jdks/8/lib/amd64/libhprof.so
entries=${ENTRIES:-4000000}
works=${WORKS:-G1:replace:1 Parallel:replace:1 Serial:replace:1 G1:replace:2 G1:update:1 G1:hot:1 G1:young:1}
parts=${PARTS:-dumps working analysis runs profiles sampled classic answers}
profiles=${PROFILES:-heap=sites heap=sites,sampling=0 cpu=samples cpu=times monitor=y}
sampled_jvms=${SAMPLED_JVMS:-12}
sampled_pairs=${SAMPLED_PAIRS:-300}
load=$(cut -d" " -f1 /proc/loadavg)
settings="-Xmx$((heap_mb * 3))m -XX:+UseG1GC"
small_settings='-Xmx512m -XX:+UseG1GC'

say() { echo "bench: $*" >&2; }
measures() { case " $parts " in *" $1 "*) ;; *) return 1 ;; esac; }

if measures classic && [ ! -e "$classic" ]; then
    missing="target/jdks/8 has no HPROF agent of its own (lib/amd64/libhprof.so), which 'classic' is measured beside"
    if [ -n "${PARTS:-}" ]; then
        say "$missing: have tools/fetch-jdks.sh get Debian's JDK 8, or leave 'classic' out of PARTS"
        exit 1
    fi
    say "$missing: that part is left out"
    parts='dumps working analysis runs profiles sampled answers'
fi

rm -rf "$work"
mkdir -p "$work/classes"
shm=$(mktemp -d /dev/shm/hprof-bench.XXXXXX)
java=
watcher=
number=0
# shellcheck disable=SC2086
trap '[ -z "$java$watcher" ] || kill $java $watcher 2>/dev/null || true; rm -rf "$shm"' EXIT
trap 'exit 1' INT TERM
# A copy: somebody may build another agent meanwhile.
agent=$work/libhprof_rs.so
cp "${AGENT:-$root/target/release/libhprof_rs.so}" "$agent"
javac --release 8 -Xlint:-options -d "$work/classes" "$root/benches/java/Subject.java" "$root/benches/java/Profiled.java" \
    "$root/benches/java/Switched.java" "$root/benches/java/Working.java"
h2=2.3.232
mvn --batch-mode --no-transfer-progress -q -Dstyle.color=never org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
    -Dartifact=com.h2database:h2:$h2 -DoutputDirectory="$work"

fail() { cat "$work/jcmd.out" "$work/java.err" >&2; exit 1; }
now_ms() { echo $(($(date +%s%N) / 1000000)); }
memory_kb() { awk -v name="$1:" '$1 == name { print $2 }' "/proc/$java/status"; }
ask() { echo "$1" >&3; read -r answer <&4 || fail; }

# ---- our dump beside the JVM's own

# dump KIND FILE: has one dump made.
dump() {
    # The quotes reach jcmd: without them it takes the equals signs for its own.
    ours="heap=dump,file=$2"
    case $1 in
        ours) set -- JVMTI.agent_load "$agent" "\"$ours\"" ;;
        ours-gz) set -- JVMTI.agent_load "$agent" "\"$ours,gz=1\"" ;;
        live) set -- GC.heap_dump "$2" ;;
        all) set -- GC.heap_dump -all "$2" ;;
        all-gz) set -- GC.heap_dump -all -gz=1 "$2" ;;
        all-2) set -- GC.heap_dump -all -parallel=2 "$2" ;;
        empty) set -- VM.version ;;
    esac
    "$jcmd" "$java" "$@" >"$work/jcmd.out" 2>&1 || fail
}

# new_file KIND FOLDER: sets `file` to a name that is not taken: neither side writes to one twice.
new_file() {
    number=$((number + 1))
    file=$2/$number.hprof
    case $1 in *-gz) file=$file.gz ;; esac
}

# took_ms KIND: how long the dump took, as the side that made it says; nothing if ours was not made by a fork.
took_ms() {
    case $1 in
        ours*) tail -1 "$work/java.err" | sed -n 's/.*: dumped .* total \([0-9]*\) ms, engine snapshot$/\1/p' ;;
        *) sed -n 's/.* bytes in \([0-9.]*\) secs.*/\1/p' "$work/jcmd.out" | awk '{ printf "%d\n", $1 * 1000 + 0.5 }' ;;
    esac
}

# Has the system find memory for a dump at hand, for whoever comes next: the host of a virtual machine may take back what nobody
# has used for two seconds, and then the first write to each page takes many times as long.
warm_memory() {
    head -c "$((heap_mb * 1600))k" /dev/zero >"$shm/warm"
    rm "$shm/warm"
}

# measure KIND WHERE FOLDER: one dump, then a collection, so that each begins alike; appends "dump", JDK, where, kind,
# pause µs, the dump's own ms, ms until it is synced with the whole command, bytes, growth KiB, resident KiB, live bytes.
measure() {
    new_file "$1" "$3"
    warm_memory
    ask begin
    resident=$(memory_kb VmRSS)
    echo 5 >"/proc/$java/clear_refs"         # the peak begins anew
    start=$(now_ms)
    dump "$1" "$file"
    [ "$1" = empty ] || sync "$file" || fail
    synced=$(($(now_ms) - start))
    ask end
    pause=$answer
    growth=$(($(memory_kb VmHWM) - resident))
    ask gc
    bytes=0
    took=0
    if [ "$1" != empty ]; then
        bytes=$(wc -c <"$file")
        took=$(took_ms "$1")
        [ -n "$took" ] || fail
        rm -f "$file"
    fi
    echo "dump $jdk $2 $1 $pause $took $synced $bytes $growth $resident $answer" >>"$results"
}

# What only the child has in memory, in KiB, dozens of times a second. A page counts if nobody else maps it: the child has
# written to it, or the application has and left the old one to the child.
watch_child() {
    while :; do
        # Listed with the thread that forked.
        for child in $(cat /proc/"$java"/task/*/children 2>/dev/null); do
            awk '/^Private_Dirty:|^VmPTE:/ { kb += $2 } END { print kb + 0 }' \
                "/proc/$child/smaps_rollup" "/proc/$child/status" 2>/dev/null || true
        done
        sleep 0.02
    done
}

# child_memory KIND: one more dump, which nobody times, as watching the child slows it down; appends "child", JDK, kind,
# the most KiB.
child_memory() {
    new_file "$1" "$shm"
    watch_child >"$work/samples" &
    watcher=$!
    dump "$1" "$file"
    kill $watcher
    wait $watcher 2>/dev/null || true         # or the shell tells of its end
    watcher=
    [ -e "$file" ] || fail
    rm -f "$file"
    echo "child $jdk $1 $(sort -n "$work/samples" | tail -1)" >>"$results"
}

# Sets `jcmd`. The JVM itself runs the commands, so a JDK without jcmd lends that of another.
choose_jcmd() {
    jcmd=$home/bin/jcmd
    [ -x "$jcmd" ] || for jcmd in "$root"/target/jdks/??/bin/jcmd; do :; done    # the newest
}

# Sets `kinds` to what this JVM can do.
choose_kinds() {
    kinds='empty ours ours-gz live all'
    "$jcmd" "$java" help GC.heap_dump >"$work/help"
    ! grep -q -e ' *-gz ' "$work/help" || kinds="$kinds all-gz"
    ! grep -q -e ' *-parallel ' "$work/help" || kinds="$kinds all-2"
}

# dumps_on JDK ORDER
dumps_on() {
    jdk=$1
    home=$root/target/jdks/$jdk
    results=$work/dumps.$2
    choose_jcmd
    rm -f "$work/in" "$work/out"
    mkfifo "$work/in" "$work/out"
    # shellcheck disable=SC2086
    "$home/bin/java" $settings -XX:+EnableDynamicAgentLoading -cp "$work/classes" Subject dump "$heap_mb" $shape "$2" \
        <"$work/in" >"$work/out" 2>"$work/java.err" &
    java=$!
    exec 3>"$work/in" 4<"$work/out"
    read -r answer <&4 || { cat "$work/java.err" >&2; exit 1; }
    dump empty -                              # so that nobody pays for what happens once
    choose_kinds
    round=0
    while [ $round -lt "$rounds" ]; do
        for kind in $kinds; do
            measure "$kind" RAM "$shm"
            measure "$kind" disk "$work"
        done
        kinds="${kinds#* } ${kinds%% *}"      # another one begins
        round=$((round + 1))
    done
    child_memory ours
    child_memory ours-gz
    exec 3>&- 4<&-
    wait $java || true
    java=
}

# ---- our dump of an application that works

. "$root/tools/bench-working.sh"

# ---- what the answers cost

. "$root/tools/bench-analysis.sh"

# ---- the cost until a dump is asked for

# runs_on JDK: appends JDK, variant, phase, ms, processor ms.
runs_on() {
    run=0
    while [ $run -lt "$runs" ]; do
        for variant in none agent; do
            option=
            [ $variant = none ] || option="-agentpath:$agent=heap=dump,file=$work/unwanted.hprof,doe=n"
            # shellcheck disable=SC2086
            "$root/target/jdks/$1/bin/java" $settings $option -cp "$work/classes" Subject run "$heap_mb" "$threads" "$virtual" \
                >"$work/run" 2>"$work/java.err" || { cat "$work/java.err" >&2; exit 1; }
            sed "s/^/$1 $variant /" "$work/run" >>"$work/runs"
        done
        run=$((run + 1))
    done
}

# ---- the cost of profiles

# works OPTION: what is worth doing under it.
works() {
    case $1 in
        none) echo allocate call contend h2 ;;
        heap=*) echo allocate h2 ;;
        cpu=samples) echo allocate call h2 ;;
        cpu=times) echo call h2 ;;
        monitor=y) echo contend h2 ;;
        *) echo h2 ;;
    esac
}

# compiler OPTION JDK: the work for the Java compiler, where allocations are looked at and the runtime has one.
compiler() {
    case $1 in none | heap=*) ;; *) return ;; esac
    ! "$root/target/jdks/$2/bin/java" --list-modules 2>/dev/null | grep -q '^jdk.compiler' || echo javac
}

# profiles_on JDK: appends JDK, option, work, ms, processor ms.
profiles_on() {
    mkdir -p "$work/compiled"
    run=0
    while [ $run -lt "$runs" ]; do
        for profile in none $profiles; do
            [ "$1$profile" != 8heap=sites ] || continue
            option=
            [ "$profile" = none ] || option="-agentpath:$agent=$profile,file=$work/unwanted.txt,doe=n"
            # shellcheck disable=SC2046,SC2086
            "$root/target/jdks/$1/bin/java" $small_settings $option -Dsources="$root/benches/java" -Dclasses="$work/compiled" \
                -cp "$work/classes:$work/h2-$h2.jar" Profiled $(works "$profile") $(compiler "$profile" "$1") >"$work/run" 2>"$work/java.err" || { cat "$work/java.err" >&2; exit 1; }
            sed "s/^/$1 $profile /" "$work/run" >>"$work/profiles"
        done
        run=$((run + 1))
    done
}

# ---- what sampled allocations cost a database, more exactly

# sampled_on JDK: appends JDK, option, ms, processor ms: all rounds of one JVM together.
sampled_on() {
    run=0
    while [ $run -lt "$sampled_jvms" ]; do
        # Each is the first one as often as the second: the machine may become faster or slower meanwhile.
        turns='none heap=sites'
        [ $((run % 2)) -eq 0 ] || turns='heap=sites none'
        for profile in $turns; do
            option=
            [ "$profile" = none ] || option="-agentpath:$agent=$profile,file=$work/unwanted.txt,doe=n"
            # shellcheck disable=SC2086
            "$root/target/jdks/$1/bin/java" $small_settings $option -cp "$work/classes:$work/h2-$h2.jar" Profiled h2 h2 h2 h2 h2 h2 \
                >"$work/run" 2>"$work/java.err" || { cat "$work/java.err" >&2; exit 1; }
            awk -v key="$1 $profile" '{ ms += $2; cpu += $3 } END { print key, ms, cpu }' "$work/run" >>"$work/sampled"
        done
        run=$((run + 1))
    done
}

# switched_on JDK: appends JDK, off or on, microseconds, those of the thread on a processor: each round of one JVM.
switched_on() {
    # shellcheck disable=SC2086
    java -cp "$work/classes" Switched h2 12 "$sampled_pairs" "$agent" "$root/target/jdks/$1/bin/java" $small_settings \
        -cp "$work/classes:$work/h2-$h2.jar" >"$work/run" 2>"$work/java.err" || { cat "$work/java.err" >&2; exit 1; }
    sed "s/^/$1 /" "$work/run" >>"$work/switched"
}

# ---- beside the HPROF agent of JDK 8

# loops SIDE OPTION: the loops to go round and how often: some tenths of a second without an agent, seconds with the JDK's own.
# What a turn costs is compared, so the counts need not be the same; that of objects must be large enough for collections.
loops() {
    case $1:$2 in
        none:*) echo allocate:20000000 arrays:1000000 call:20000000 longcall:5000000 ;;
        theirs:heap=*) echo allocate:500000 arrays:500000 ;;
        theirs:cpu=*) echo call:1000000 longcall:1000000 ;;
        counted:heap=*) echo allocate:5000000 arrays:1000000 ;;
        counted:cpu=*) echo call:10000000 longcall:5000000 ;;
        sampled:heap=*) echo allocate:20000000 arrays:1000000 ;;
        sampled:cpu=*) echo call:20000000 longcall:5000000 ;;
    esac
}

# has_side JDK SIDE OPTION: whether this Java can do that.
has_side() {
    case $1:$2:$3 in
        8:sampled:heap=*) return 1 ;;         # JDK 8 samples no allocations
        8:*) ;;
        *:theirs:*) return 1 ;;               # JDK 9 has no agent of its own any more
    esac
}

# loops_on JDK: appends JDK, side, loop:turns, ms, processor ms.
loops_on() {
    run=0
    while [ $run -lt "$runs" ]; do
        for variant in none:- theirs:heap=sites theirs:cpu=times counted:heap=sites,sampling=0 counted:cpu=times \
            sampled:heap=sites sampled:cpu=samples; do
            side=${variant%%:*}
            option=${variant#*:}
            has_side "$1" "$side" "$option" || continue
            case $side in
                none) agent_option= ;;
                theirs) agent_option="-agentpath:$classic=$option,file=$work/unwanted.txt" ;;
                *) agent_option="-agentpath:$agent=$option,file=$work/unwanted.txt,doe=n" ;;
            esac
            # shellcheck disable=SC2046,SC2086
            "$root/target/jdks/$1/bin/java" $small_settings $agent_option -cp "$work/classes" Profiled \
                $(loops "$side" "$option") >"$work/run" 2>"$work/java.err" || { cat "$work/java.err" >&2; exit 1; }
            sed "s/^/$1 $side /" "$work/run" >>"$work/classic"
        done
        run=$((run + 1))
    done
}

: >"$work/runs"
: >"$work/profiles"
: >"$work/sampled"
: >"$work/switched"
: >"$work/classic"
: >"$work/working"
: >"$work/analysis"
for order in $orders; do
    : >"$work/dumps.$order"
    for jdk in $jdks; do
        [ "$jdk" -ge 11 ] && measures dumps || continue
        say "dumps on Java $jdk, $order"
        dumps_on "$jdk" "$order"
    done
done
for jdk in $jdks; do
    for application in $works; do
        [ "$jdk" -ge 11 ] && measures working || continue
        say "a dump of $application on Java $jdk"
        working_on "$jdk" "$application"
    done
    if measures runs; then
        say "runs without a dump on Java $jdk"
        runs_on "$jdk"
    fi
    if measures profiles; then
        say "profiles on Java $jdk"
        profiles_on "$jdk"
    fi
    if measures sampled; then
        say "sampled allocations on Java $jdk"
        sampled_on "$jdk"
        switched_on "$jdk"
    fi
done
if measures analysis; then
    analysis
fi
# The JDK's own agent is that of 8, so that Java is always among them.
loop_jdks="8 $(echo "$jdks" | xargs -n 1 | grep -vx 8 | xargs)"
if measures classic; then
    for jdk in $loop_jdks; do
        say "loops on Java $jdk"
        loops_on "$jdk"
    done
fi

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
function target_head(    i) {
    printf "| target |"
    for (i = 1; i <= jdks; i++) printf " Java %s |", order[i]
    printf "\n|---|"
    for (i = 1; i <= jdks; i++) printf "---|"
    print ""
}
function over(a, b) { return b > 0 ? sprintf("%.2f", a / b) : "–" }
'

# What both tables read: the lines of a file dumps.ORDER. MB and GB are powers of ten.
dumps_read='
$1 == "child" { child[$2, $3] = $4 * 1024 / 1e6; next }
{
    if (!($2 in seen)) { seen[$2] = 1; order[++jdks] = $2 }
    key = $2 SUBSEP $3 SUBSEP $4
    pause[key] = pause[key] " " $5 / 1000
    took[key] = took[key] " " $6
    command[key] = command[key] " " $7
    bytes[key] = bytes[key] " " $8 / 1e6
    growth[key] = growth[key] " " $9 * 1024 / 1e6
    if ($4 == "ours") resident[$2] = resident[$2] " " $10 * 1024 / 1e9
    live[$2] = live[$2] " " $11 / 1e9
}
function pause_ms(jdk, where, kind) { return median(pause[jdk, where, kind]) }
function total_ms(jdk, where, kind) { return median(took[jdk, where, kind]) }
function synced_ms(jdk, where, kind,    ms) {
    ms = median(command[jdk, where, kind]) - median(command[jdk, where, "empty"])
    return ms > 0 ? ms : 0
}
function file_mb(jdk, where, kind) { return median(bytes[jdk, where, kind]) }
function small(a, b) { return b > 0 ? sprintf("%.3f", a / b) : "–" }
'

# dump_tables FILE: what was measured, a table for each Java.
dump_tables() {
    awk "$medians$dumps_read"'
    function row(where, kind, label,    memory) {
        if (!((jdk, where, kind) in pause)) return
        memory = kind ~ /^ours/ && child[jdk, kind] > 0 ? sprintf("%.0f", child[jdk, kind]) : "–"
        printf "| %s | %s | %.1f | %.0f | %.0f | %.1f | %.0f | %s |\n", where, label, pause_ms(jdk, where, kind),
            total_ms(jdk, where, kind), synced_ms(jdk, where, kind), file_mb(jdk, where, kind),
            most(growth[jdk, where, kind]), memory
    }
    function nothing(where) { printf "| %s | no dump | %.1f | – | – | – | – | – |\n", where, pause_ms(jdk, where, "empty") }
    function ratio(where, ours, kind, label) {
        if (!((jdk, where, kind) in pause)) return
        printf "| %s | **%s** | **%s** | **%s** | **%s** | **%s** | | |\n", where, label,
            small(pause_ms(jdk, where, ours), pause_ms(jdk, where, kind)),
            over(total_ms(jdk, where, ours), total_ms(jdk, where, kind)),
            over(synced_ms(jdk, where, ours), synced_ms(jdk, where, kind)),
            small(file_mb(jdk, where, ours), file_mb(jdk, where, kind))
    }
    function rows(where) {
        row(where, "ours", "hprof-rs")
        row(where, "ours-gz", "hprof-rs, `gz=1`")
        row(where, "live", "`jcmd`")
        row(where, "all", "`jcmd -all`")
        row(where, "all-2", "`jcmd -all -parallel=2`")
        row(where, "all-gz", "`jcmd -all -gz=1`")
        nothing(where)
        ratio(where, "ours", "all", "ours / `jcmd -all`")
        ratio(where, "ours-gz", "all-gz", "ours, `gz=1` / `jcmd -all -gz=1`")
    }
    END {
        for (i = 1; i <= jdks; i++) {
            jdk = order[i]
            printf "Java %s: %.2f GB live, %.2f GB resident; an empty command takes %.0f ms.\n\n", jdk,
                median(live[jdk]), median(resident[jdk]), median(command[jdk, "RAM", "empty"])
            print "| on | what | pause, ms | total, ms | synced, ms | file, MB | JVM grew, MB | child, MB |"
            print "|---|---|--:|--:|--:|--:|--:|--:|"
            rows("RAM")
            rows("disk")
            print ""
        }
    }' "$1"
}

# target_table FILE: what the snapshot engine is meant to reach, and whether it did.
target_table() {
    awk "$medians$dumps_read"'
    function verdict(met) { return met ? "met" : "**not met**" }
    function has(kind) { return (jdk, "RAM", kind) in pause }
    # Two numbers, of the RAM disk and of the disk, and whether both keep within the limit.
    function pair(format, ram, disk, limit) {
        return sprintf("%s: " format " · " format, verdict(ram <= limit && disk <= limit), ram, disk)
    }
    function quotient(a, b) { return b > 0 ? a / b : 0 }
    function pause_ratio(where) { return quotient(pause_ms(jdk, where, "ours"), pause_ms(jdk, where, "all")) }
    function pause_rate(where, kind) { return quotient(pause_ms(jdk, where, kind), median(resident[jdk])) }
    function limit_ms() { return 25 * median(resident[jdk]) + 10 }
    function limit_mb() { return 50 * median(live[jdk]) + 200 }
    function pause_times() {
        return pair("%.1f", pause_ms(jdk, "RAM", "ours"), pause_ms(jdk, "disk", "ours"), limit_ms()) sprintf(" of %.1f", limit_ms())
    }
    function time_ratios(ours, kind, limit) {
        if (!has(kind)) return "–"
        return pair("%.2f", quotient(total_ms(jdk, "RAM", ours), total_ms(jdk, "RAM", kind)),
            quotient(synced_ms(jdk, "disk", ours), synced_ms(jdk, "disk", kind)), limit)
    }
    function live_time_ratios() {
        return sprintf("%.2f · %.2f", quotient(total_ms(jdk, "RAM", "ours"), total_ms(jdk, "RAM", "live")),
            quotient(synced_ms(jdk, "disk", "ours"), synced_ms(jdk, "disk", "live")))
    }
    function size_ratio(    ratio) {
        if (!has("all-gz")) return "–"
        ratio = quotient(file_mb(jdk, "RAM", "ours-gz"), file_mb(jdk, "RAM", "all-gz"))
        return sprintf("%s: %.3f", verdict(ratio <= 1), ratio)
    }
    function childs_memory(kind,    mb) {
        mb = child[jdk, kind]
        return mb > 0 ? sprintf("%s: %.0f of %.0f", verdict(mb <= limit_mb()), mb, limit_mb()) : "–"
    }
    function cell(number) {
        if (number == 1) return pair("%.3f", pause_ratio("RAM"), pause_ratio("disk"), 1 / 50)
        if (number == 2) return pause_times()
        if (number == 3) return sprintf("%.1f · %.1f", pause_rate("RAM", "ours"), pause_rate("disk", "ours"))
        if (number == 4) return sprintf("%.0f · %.0f", pause_rate("RAM", "all"), pause_rate("disk", "all"))
        if (number == 5) return time_ratios("ours", "all", 0.6)
        if (number == 6) return time_ratios("ours-gz", "all-gz", 0.5)
        if (number == 7) return size_ratio()
        if (number == 10) return live_time_ratios()
        return childs_memory(number == 8 ? "ours" : "ours-gz")
    }
    function row(number, label,    i) {
        printf "| %s |", label
        for (i = 1; i <= jdks; i++) { jdk = order[i]; printf " %s |", cell(number) }
        print ""
    }
    END {
        target_head()
        row(1, "pause / `jcmd -all`: at most 0.020 with 1 GB live")
        row(2, "pause, ms: at most 25 for each GB resident, and 10")
        row(3, "pause per resident GB, ms")
        row(4, "the same for `jcmd -all`")
        row(5, "time / `jcmd -all`: at most 0.60")
        row(10, "time / `jcmd`, which dumps reachable objects as ours does")
        row(6, "time with `gz=1` / `jcmd -all -gz=1`: at most 0.50")
        row(7, "file with `gz=1` / `jcmd -all -gz=1`: at most 1.000")
        row(8, "memory of the child, MB: at most 5 % of the live bytes, plus 200")
        row(9, "the same with `gz=1`")
    }' "$1"
}

# run_table FILE
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
    }' "$1"
}

# profile_table FILE
profile_table() {
    awk "$medians"'
    {
        key = $1 " " $3
        if ($2 == "none") { if (!(key in seen)) { seen[key] = 1; order[++groups] = key } }
        else if (!($2 in known)) { known[$2] = 1; options[++count] = $2 }
        time[key, $2] = time[key, $2] " " $4
        cpu[key, $2] = cpu[key, $2] " " $5
    }
    END {
        printf "| Java | work | no agent, ms (CPU ms) |"
        for (o = 1; o <= count; o++) printf " `%s` |", options[o]
        printf "\n|---|---|--:|"
        for (o = 1; o <= count; o++) printf "--:|"
        print ""
        for (group = 1; group <= groups; group++) {
            key = order[group]
            split(key, part, " ")
            printf "| %s | %s | %d (%d) |", part[1], part[2], median(time[key, "none"]), median(cpu[key, "none"])
            for (o = 1; o <= count; o++) {
                if ((key, options[o]) in time)
                    printf " **%s** (%s) |", over(median(time[key, options[o]]), median(time[key, "none"])),
                        over(median(cpu[key, options[o]]), median(cpu[key, "none"]))
                else printf " – |"
            }
            print ""
        }
    }' "$1"
}

# What both tables of loops read: ns and processor ns of a turn.
loops_read='
{
    split($3, loop, ":")
    if (!($1 in seen)) { seen[$1] = 1; order[++jdks] = $1 }
    key = $1 SUBSEP loop[1] SUBSEP $2
    time[key] = time[key] " " $4 * 1e6 / loop[2]
    cpu[key] = cpu[key] " " $5 * 1e6 / loop[2]
}
function has(jdk, work, side) { return (jdk, work, side) in time }
function times(jdk, work, side,    none) {
    none = median(time[jdk, work, "none"])
    return none > 0 ? median(time[jdk, work, side]) / none : 0
}
'

# loop_table FILE: what a turn costs.
loop_table() {
    awk "$medians$loops_read"'
    function cell(side) {
        if (!has(jdk, work, side)) return "–"
        return sprintf("%.0f: **%s** (%s)", median(time[jdk, work, side]), over(median(time[jdk, work, side]), median(time[jdk, work, "none"])),
            over(median(cpu[jdk, work, side]), median(cpu[jdk, work, "none"])))
    }
    END {
        print "| Java | loop | no agent, ns (CPU ns) | the JDK’s agent, ns | hprof-rs, all counted, ns | hprof-rs, sampled, ns |"
        print "|---|---|--:|--:|--:|--:|"
        count = split("allocate arrays call longcall", works, " ")
        for (i = 1; i <= jdks; i++) for (w = 1; w <= count; w++) {
            jdk = order[i]; work = works[w]
            printf "| %s | %s | %.0f (%.0f) | %s | %s | %s |\n", jdk, work, median(time[jdk, work, "none"]),
                median(cpu[jdk, work, "none"]), cell("theirs"), cell("counted"), cell("sampled")
        }
    }' "$1"
}

# loop_targets FILE: whether exact counts cost less than the JDK's agent did, two and a half times less where all is small, and
# calls no more than four times.
loop_targets() {
    awk "$medians$loops_read"'
    function verdict(met, number) { return sprintf("%s: %.2f", met ? "met" : "**not met**", number) }
    function row(label, work, limit,    i, ours) {
        printf "| %s |", label
        for (i = 1; i <= jdks; i++) {
            ours = times(order[i], work, "counted")
            printf " %s |", verdict(ours <= limit, ours)
        }
        print ""
    }
    END {
        target_head()
        theirs = times("8", "allocate", "theirs") / 2.5
        row(sprintf("`allocate`: at most %.1f times, which is 2.5 times less than with the JDK’s agent", theirs), "allocate", theirs)
        theirs = times("8", "arrays", "theirs")
        row(sprintf("`arrays`, where the JDK’s agent costs %.1f times as much: less than that", theirs), "arrays", theirs)
        row(sprintf("`longcall`, where the JDK’s agent costs %.1f times as much: at most 4", times("8", "longcall", "theirs")), "longcall", 4)
    }' "$1"
}

# switched_table FILE: of each pair of rounds the ratio, their geometric mean, and two standard errors of that. What the error
# leaves open is neither met nor missed.
switched_table() {
    awk "$medians"'
    function verdict(ratio, error) {
        return ratio + error <= 1.02 ? "met" : ratio - error > 1.02 ? "**not met**" : "not shown"
    }
    function spread(n, sum, squares) { return 2 * sqrt((squares / n - (sum / n) ^ 2) / (n - 1)) }
    {
        if (!($1 in seen)) { seen[$1] = 1; order[++jdks] = $1 }
        time[$1, $2] = time[$1, $2] " " $3 / 1000
        cpu[$1, $2] = cpu[$1, $2] " " $4 / 1000
        last[$2] = $3; last_cpu[$2] = $4
        if (++rounds[$1] % 2 == 0) {
            ratio = log(last["on"] / last["off"]); sum[$1] += ratio; squares[$1] += ratio ^ 2
            ratio = log(last_cpu["on"] / last_cpu["off"]); cpu_sum[$1] += ratio; cpu_squares[$1] += ratio ^ 2
        }
    }
    END {
        print "| Java | without, ms (of the thread, CPU ms) | with | times as long | CPU of the thread | at most 1.02 |"
        print "|---|--:|--:|--:|--:|---|"
        for (i = 1; i <= jdks; i++) {
            jdk = order[i]; n = rounds[jdk] / 2; ratio = exp(sum[jdk] / n); error = spread(n, sum[jdk], squares[jdk])
            printf "| %s | %.0f (%.0f) | %.0f (%.0f) | %.3f ± %.3f | %.3f ± %.3f | %s |\n", jdk, median(time[jdk, "off"]),
                median(cpu[jdk, "off"]), median(time[jdk, "on"]), median(cpu[jdk, "on"]), ratio, error,
                exp(cpu_sum[jdk] / n), spread(n, cpu_sum[jdk], cpu_squares[jdk]), verdict(ratio, error)
        }
    }' "$1"
}

# sampled_table FILE
sampled_table() {
    awk "$medians"'
    {
        if (!($1 in seen)) { seen[$1] = 1; order[++jdks] = $1 }
        time[$1, $2] = time[$1, $2] " " $3
        cpu[$1, $2] = cpu[$1, $2] " " $4
    }
    END {
        print "| Java | no agent, ms (CPU ms) | `heap=sites`, ms (CPU ms) | times as long (CPU) |"
        print "|---|--:|--:|--:|"
        for (i = 1; i <= jdks; i++) {
            jdk = order[i]
            none = median(time[jdk, "none"]); ours = median(time[jdk, "heap=sites"])
            none_cpu = median(cpu[jdk, "none"]); ours_cpu = median(cpu[jdk, "heap=sites"])
            printf "| %s | %.0f (%.0f) | %.0f (%.0f) | %.3f (%.3f) |\n", jdk, none, none_cpu, ours, ours_cpu, ours / none,
                ours_cpu / none_cpu
        }
    }' "$1"
}

dump_report() {
    echo "### Objects linked in $1 order"
    echo
    dump_tables "$work/dumps.$1"
    echo "Targets of the fork. Two numbers: *total* on the RAM disk · *synced* on the disk."
    echo
    target_table "$work/dumps.$1"
    echo
}

# machine SETTINGS JDKS
machine() {
    echo "Measured $(date -u +%Y-%m-%d) on $(nproc) cores ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1))," \
        "$(awk '/^MemTotal/ { printf "%.0f GB", $2 / 1048576 }' /proc/meminfo) of memory, Linux $(uname -r)," \
        "transparent huge pages: $(sed -n 's/.*\[\(.*\)\].*/\1/p' /sys/kernel/mm/transparent_hugepage/enabled);" \
        "load average at the start: $load."
    echo "Java: $(for jdk in $2; do "$root/target/jdks/$jdk/bin/java" -version 2>&1 | sed -n '1s/.*"\(.*\)".*/\1/p'; done \
        | paste -sd ' ' | sed 's/ /, /g'); \`$1\`."
    echo
}

report_dumps() {
    machine "$settings" "$jdks"
    echo "A heap of about $heap_mb MB ($(echo "$shape" | awk '{ printf "%s %% small objects, %s %% maps, %s %% strings, %s %% large arrays", $1, $2, $3, $4 }'));" \
        "medians of $rounds rounds, for memory the largest value."
    echo
    for order in $orders; do
        dump_report "$order"
    done
}

report_runs() {
    machine "$settings" "$jdks"
    echo "\`fill\` fills the heap above, \`threads\` starts and ends $threads platform threads, \`virtual\` starts $virtual virtual" \
        "threads that yield three times and park once. Medians of $runs runs in turn. CPU is the CPU time of the whole JVM," \
        "which is the better measure on a busy machine."
    echo
    run_table "$work/runs"
}

report_profiles() {
    machine "$small_settings" "$jdks"
    echo "\`allocate\` only allocates small arrays, \`call\` only calls a method of 20 ns, in \`contend\` four threads compete for" \
        "one monitor, \`h2\` is the H2 database under inserts and queries, \`javac\` is the Java compiler, where the runtime has" \
        "it. A cell shows the time divided by the time without the agent, and the same for CPU time in brackets. Medians of" \
        "$runs runs in turn, after one warm-up run."
    echo
    profile_table "$work/profiles"
}

report_sampled() {
    machine "$small_settings" "$jdks"
    echo "One JVM runs \`h2\` repeatedly with \`heap=sites\`: $sampled_pairs rounds without samples and $sampled_pairs with samples, in" \
        "turn. The agent's socket switches them, after twelve warm-up rounds. The table has the medians, the geometric mean of" \
        "the pairs' ratios, and two standard errors of it. The target applies to the elapsed time of a round; an undecided" \
        "comparison is not shown."
    echo
    switched_table "$work/switched"
    echo
    echo "Whole JVMs, start included: each runs \`h2\` six times. Medians of $sampled_jvms JVMs without the agent and $sampled_jvms with" \
        "\`heap=sites\`, in turn. JVMs differ from each other by much more than sampling costs."
    echo
    sampled_table "$work/sampled"
}

report_classic() {
    machine "$small_settings" "$loop_jdks"
    echo "\`allocate\` and \`arrays\` only allocate: small arrays, and arrays of 4 KiB. \`call\` and \`longcall\` only call a" \
        "method: one of 20 ns, one of 50 ns. A cell shows the time of one iteration, that time divided by the time without the" \
        "agent, and the same ratio for CPU time in brackets. The JDK's agent (JDK 8) ran with \`heap=sites\` for the first two" \
        "loops and with \`cpu=times\` for the others. Ours ran with \`heap=sites,sampling=0\` and \`cpu=times\` (all counted) and" \
        "with \`heap=sites\` and \`cpu=samples\` (sampled). Medians of $runs runs in turn, after one warm-up run."
    echo
    loop_table "$work/classic"
    echo
    loop_targets "$work/classic"
    echo
}

report_answers() {
    echo "Facts of planted leaks (docs/leak-answers.md)."
    echo
    AGENT=$agent "$root/tools/answers.sh" planted
    echo
}

for part in dumps working analysis runs profiles sampled classic answers; do
    if measures $part; then report_$part; fi
done
