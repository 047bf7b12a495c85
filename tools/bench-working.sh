# What a dump costs an application that works meanwhile. tools/bench.sh reads this file and calls it for the part 'working'.
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154
working_settings='-Xms2g -Xmx2g'

# start_working JDK COLLECTOR MODE THREADS: sets `java`, and what its results begin with.
start_working() {
    jdk=$1
    home=$root/target/jdks/$jdk
    results=$work/working
    working_key="$1 $2 $3 $4"
    choose_jcmd
    rm -f "$work/in" "$work/out"
    mkfifo "$work/in" "$work/out"
    # shellcheck disable=SC2086
    "$home/bin/java" $working_settings "-XX:+Use$2GC" -XX:+EnableDynamicAgentLoading -cp "$work/classes" \
        Working "$3" "$4" "$entries" <"$work/in" >"$work/out" 2>"$work/java.err" &
    java=$!
    exec 3>"$work/in" 4<"$work/out"
    read -r answer <&4 || fail
}

# measure_working KIND: appends "work", JDK, collector, mode, threads, kind, work lost in µs, p50, p99 and longest gap in ns,
# growth KiB.
measure_working() {
    new_file "$1" "$shm"
    warm_memory
    ask begin
    resident=$(memory_kb VmRSS)
    echo 5 >"/proc/$java/clear_refs"
    dump "$1" "$file"
    ask end
    rm -f "$file"
    echo "work $working_key $1 $answer $(($(memory_kb VmHWM) - resident))" >>"$results"
}

# watch_working KIND: one more dump, which nobody times; appends "child", the same key, KiB that only the child has.
watch_working() {
    child_memory "$1"
    sed -i "\$s/.*\( [0-9]*\)\$/child $working_key $1\1/" "$results"
}

# working_on JDK COLLECTOR:MODE:THREADS
working_on() {
    # shellcheck disable=SC2046
    start_working "$1" $(echo "$2" | tr ':' ' ')
    dump empty -
    choose_kinds
    case $kinds in *all-gz*) kinds='empty ours ours-gz all all-gz' ;; *) kinds='empty ours ours-gz all' ;; esac
    round=0
    while [ $round -lt "$rounds" ]; do
        for kind in $kinds; do
            measure_working "$kind"
        done
        kinds="${kinds#* } ${kinds%% *}"
        round=$((round + 1))
    done
    case $2 in Z:* | Shenandoah:*) ;; *)
        watch_working ours
        watch_working ours-gz
    esac
    exec 3>&- 4<&-
    wait $java || true
    java=
}

# What both tables read: the lines of the file working.
working_read='
function key_of(kind) { return jdk SUBSEP what SUBSEP kind }
{ what = $3 ", " $4 ", " $5; jdk = $2; key = key_of($6) }
$1 == "child" { child[key] = $7 * 1024 / 1e6; next }
{
    if (!((jdk, what) in seen)) { seen[jdk, what] = 1; jdk_of[++rows] = jdk; what_of[rows] = what }
    lost[key] = lost[key] " " $7 / 1e6
    p50[key] = p50[key] " " $8 / 1e3
    p99[key] = p99[key] " " $9 / 1e3
    longest[key] = longest[key] " " $10 / 1e6
    growth[key] = growth[key] " " $11 * 1024 / 1e6
}
function has(kind) { return key_of(kind) in lost }
# What the command itself costs is not the dump.
function net(kind,    s) { s = median(lost[key_of(kind)]) - median(lost[key_of("empty")]); return s > 0 ? s : 0 }
'

# working_table FILE
working_table() {
    awk "$medians$working_read"'
    function row(kind, label,    key) {
        key = key_of(kind)
        if (!(key in lost)) return
        printf "| %s | %s | %s | %.2f | %.1f | %.1f | %.0f | %.0f |\n", jdk, what, label, median(lost[key]), median(p50[key]),
            median(p99[key]), median(longest[key]), most(growth[key]) + child[key]
    }
    END {
        print "| Java | application | dump | work lost, s | p50, µs | p99, µs | longest gap, ms | memory, MB |"
        print "|---|---|---|--:|--:|--:|--:|--:|"
        for (i = 1; i <= rows; i++) {
            jdk = jdk_of[i]; what = what_of[i]
            row("empty", "none")
            row("ours", "hprof-rs")
            row("ours-gz", "hprof-rs, `gz=1`")
            row("all", "`jcmd -all`")
            row("all-gz", "`jcmd -all -gz=1`")
        }
    }' "$1"
}

# working_targets FILE
working_targets() {
    awk "$medians$working_read"'
    function verdict(met) { return met ? "met" : "**not met**" }
    function part(ours, theirs,    ratio) {
        if (!has(theirs) || net(theirs) == 0) return "–"
        ratio = net(ours) / net(theirs)
        return sprintf("%s: %.2f", verdict(ratio <= 0.1), ratio)
    }
    function gap(kind,    ms, limit) {
        ms = median(longest[key_of(kind)])
        limit = 2 * median(longest[key_of("empty")])
        if (limit < 50) limit = 50
        return sprintf("%s: %.0f of %.0f", verdict(ms <= limit), ms, limit)
    }
    END {
        print "| Java | application | work lost / `jcmd -all`: at most 0.10 | with `gz=1` / `jcmd -all -gz=1` | longest gap, ms | with `gz=1` |"
        print "|---|---|---|---|---|---|"
        for (i = 1; i <= rows; i++) {
            jdk = jdk_of[i]; what = what_of[i]
            printf "| %s | %s | %s | %s | %s | %s |\n", jdk, what, part("ours", "all"), part("ours-gz", "all-gz"), gap("ours"), gap("ours-gz")
        }
    }' "$1"
}

report_working() {
    machine "$working_settings" "$jdks"
    echo "A map of $entries entries and $((entries * 9 / 2)) objects. The application \`replace\` updates one entry and replaces the" \
        "value of another at random, \`update\` only updates old objects at random, \`hot\` updates the same 4,096 objects," \
        "\`young\` allocates objects that die young; the number behind it is that of its threads. Each thread notes the time" \
        "about every 10 µs. Observed from the request until one second after the end: *work lost* is the work that the" \
        "application would have done at the rate of the three seconds before, in seconds of that rate; a *gap* lies between two" \
        "such times. *Memory* is the growth of the JVM and what only the forked child has, at its peak. Dumps go to a RAM" \
        "disk. Medians of $rounds rounds in turn, for memory the largest value. \`none\` is an empty command; the targets" \
        "subtract what it costs."
    echo
    working_table "$work/working"
    echo
    working_targets "$work/working"
}
