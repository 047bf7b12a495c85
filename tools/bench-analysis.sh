# What the answers cost: retained sizes of every object and the commands on a dump, beside hprof-slurp and hprof-analyzer.
# tools/bench.sh reads this file and calls it for the part 'analysis'.
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154
analysis_settings='-Xmx3g -XX:+UseParallelGC'

# The heaps of `Subject dump`: name, megabytes, shares, order.
#   sequence   18 million objects of maps and chains, linked in the order in which they lie
#   random     20 million nodes of two references, each to any other
analysis_heaps='sequence:845:50:50:0:0:sequential random:612:100:0:0:0:random'

# analysed_dump HEAP: has a JVM of Java 17 make the dump, and ends it; sets `file`.
analysed_dump() {
    jdk=17
    home=$root/target/jdks/$jdk
    choose_jcmd
    file=$shm/${1%%:*}.hprof
    rm -f "$work/in" "$work/out"
    mkfifo "$work/in" "$work/out"
    # shellcheck disable=SC2046,SC2086
    "$home/bin/java" $analysis_settings -cp "$work/classes" Subject dump $(echo "${1#*:}" | tr ':' ' ') \
        <"$work/in" >"$work/out" 2>"$work/java.err" &
    java=$!
    exec 3>"$work/in" 4<"$work/out"
    read -r answer <&4 || fail
    dump ours "$file"
    exec 3>&- 4<&-
    wait $java || true
    java=
}

# spend WHAT COMMAND...: appends the heap, what ran, CPU s of the program and the kernel, elapsed s, peak KiB.
spend() {
    what=$1
    shift
    /usr/bin/time -f '%U %S %e %M' -o "$work/time" "$@" >"$work/answer" 2>"$work/java.err" </dev/null || fail
    echo "$heap $what $(tail -1 "$work/time")" >>"$work/analysis"
}

analyse() {
    hprof=$root/target/release/hprof
    retained=$root/target/release/examples/retained
    spend retained-1 "$retained" "$file" 1
    spend retained-2 "$retained" "$file" 2
    spend leaks "$hprof" leaks "$file"
    for command in histo check; do spend $command "$hprof" $command "$file"; done
    for peer in hprof-slurp hprof-analyzer; do
        [ -x "$root/target/readers/bin/$peer" ] || { say "target/readers/bin/$peer is missing, so it is left out"; continue; }
        measure_peer $peer
    done
}

measure_peer() {
    case $1 in
        hprof-slurp) spend "$1" "$root/target/readers/bin/$1" "$file" ;;
        # Its smallest command that computes retained sizes is the whole report.
        hprof-analyzer) spend "$1" "$root/target/readers/bin/$1" "$file" "$work/analyzer" ;;
    esac
}

analysis() {
    for described in $analysis_heaps; do
        heap=${described%%:*}
        say "what the answers cost, $heap"
        analysed_dump "$described"
        echo "$heap objects $("$root/target/release/examples/retained" "$file" | sed -n 's/.*: \([0-9]*\) objects, \([0-9]*\) references/\1 \2/p') 0 0" >>"$work/analysis"
        round=0
        while [ $round -lt "$rounds" ]; do
            analyse
            round=$((round + 1))
        done
        rm -f "$file"
    done
}

analysis_table() {
    awk "$medians"'
    $2 == "objects" { objects[$1] = $3; references[$1] = $4; heaps[++n] = $1; next }
    {
        key = $1 SUBSEP $2
        cpu[key] = cpu[key] " " $3 + $4
        kernel[key] = kernel[key] " " $4
        elapsed[key] = elapsed[key] " " $5
        peak[key] = peak[key] " " $6 * 1024
    }
    function row(what, label,    key) {
        key = heap SUBSEP what
        if (!(key in cpu)) return
        printf "| %s | %s | %.2f | %.2f | %.2f | %.0f | %.0f |\n", heap, label, median(cpu[key]), median(kernel[key]),
            median(elapsed[key]), median(peak[key]) / 1e6, median(peak[key]) / objects[heap]
    }
    END {
        for (i = 1; i <= n; i++)
            printf "- *%s*: %.1f million objects, %.1f million references\n", heaps[i], objects[heaps[i]] / 1e6, references[heaps[i]] / 1e6
        print ""
        print "| heap | what | CPU s | of it the kernel | elapsed s | peak memory, MB | bytes an object |"
        print "|---|---|--:|--:|--:|--:|--:|"
        for (i = 1; i <= n; i++) {
            heap = heaps[i]
            row("retained-1", "retained size of every object, one thread")
            row("retained-2", "the same, two threads")
            row("hprof-analyzer", "hprof-analyzer")
            row("leaks", "`hprof leaks`")
            row("histo", "`hprof histo`")
            row("check", "`hprof check`")
            row("hprof-slurp", "hprof-slurp")
        }
    }' "$1"
}

report_analysis() {
    machine "$analysis_settings" 17
    echo "Dumps of \`Subject\`, in a RAM disk; medians of $rounds rounds in turn. \`hprof-analyzer\` writes its report;" \
        "\`hprof-slurp\` and the commands below \`leaks\` compute no retained sizes."
    echo
    analysis_table "$work/analysis"
}
