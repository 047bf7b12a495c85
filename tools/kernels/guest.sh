#!/bin/sh
# Runs on a kernel under test: a dump of each kind of JVM, without a filter of system calls and under two. Prints a line for
# each, and exits with 1 if one is red. HERE is the project's folder, which kernel-test.sh puts before this text.
ip link set lo up
red=0
agent=$HERE/target/quick/libhprof_rs.so
hprof=$HERE/target/quick/hprof
refused=userfaultfd,process_vm_readv

# An image needs the kernel's notes of written pages (6.7), and the call for them.
has_notes() {
    major=$(uname -r | cut -d. -f1) minor=$(uname -r | cut -d. -f2)
    [ "$1" = none ] && { [ "$major" -gt 6 ] || { [ "$major" -eq 6 ] && [ "$minor" -ge 7 ]; }; }
}

# wait_for COMMAND...: until it succeeds, for a minute; emulation is slow.
wait_for() {
    for _ in $(seq 300); do
        if "$@" >/dev/null 2>&1; then return 0; fi
        sleep 0.2
    done
    return 1
}

fault() { red=1; echo "    RED: $1"; cat err; }

# row FILTER JDK COLLECTOR [SWITCH...]
row() {
    filter=$1 jdk=$2 collector=$3
    shift 3
    rm -rf /tmp/row && mkdir /tmp/row && cd /tmp/row || exit 1
    case $filter in none) through= ;; *) through="$HERE/target/kernels/filter $filter $refused" ;; esac
    # Each byte of an image is compared with the heap (copy=both).
    # shellcheck disable=SC2086
    $through "$HERE/target/jdks/$jdk/bin/java" -Xmx128m "-XX:+Use${collector}GC" "$@" -XX:TieredStopAtLevel=1 \
        "-agentpath:$agent=heap=dump,doe=n,file=out.hprof,copy=both,verbose=y" -cp "$HERE/target/kernels" Cells >out 2>err &
    jvm=$!
    wait_for grep -q READY out || fault "the JVM is not up"
    kill -QUIT $jvm
    wait_for test -e out.hprof || fault "no dump"
    wait_for grep -q 'hprof-rs: dumped' err
    way=$(sed -n 's/^hprof-rs: dumped.*engine //p' err)
    case $way in snapshot*) ;; *) fault "HotSpot's own dumper: $way" ;; esac
    if has_notes "$filter"; then
        case $way in *image*) ;; *) fault "no image" ;; esac
    fi
    "$hprof" check out.hprof >check 2>&1 || { cat check; fault "hprof check"; }
    "$hprof" histo out.hprof >histo 2>&1
    grep -q ' 20,000 .*Cells\$Cell$' histo || fault "not each object is there"
    "$hprof" leaks $jvm --agent "$agent" >leaks 2>&1 || { cat leaks; fault "hprof leaks"; }
    "$hprof" histo $jvm --agent "$agent" >histo 2>&1 || { cat histo; fault "hprof histo"; }
    grep -q ' 20,000 .*Cells\$Cell$' histo || { cat histo; fault "hprof histo sees another heap"; }
    kill -TERM $jvm
    wait $jvm
    [ $? -eq 143 ] || fault "the JVM did not end by the signal"
    echo "$(uname -r) | $filter | $jdk $collector | $way"
}

row none 8 G1
row none 17 G1
row none 17 Parallel
row none 17 Shenandoah
row none 17 Z
row none 21 Z -XX:+ZGenerational
row none 25 G1
row none 25 Z
row EPERM 17 G1
row EPERM 17 Z
row EPERM 25 Z
row KILL 17 Z
exit $red
