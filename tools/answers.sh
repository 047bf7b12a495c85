#!/bin/sh
# How good the first sentence of `hprof leaks` is (docs/leak-answers.md): prints how many facts of planted leaks it has, how many
# of leaks of real libraries, and how often it accuses a program that does not leak. hprof-analyzer stands beside it once
# tools/fetch-readers.sh hprof-analyzer has run, and Eclipse MAT if MAT names its program. Makes the dumps that are not there.
# Usage: tools/answers.sh [-v] [planted|real] [NAME...]   -v prints each sentence that lacks a fact, with that fact; programs are
#                                                         chosen by a part of their names
#   HPROF=...  AGENT=...    other files than target/release/hprof and libhprof_rs.so
#   MAT=...                 the ParseHeapDump.sh of Eclipse MAT
#   DUMPS=...               another folder for the dumps than target/
#   JDKS=...                other runtimes than those of tools/fetch-jdks.sh
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
dumps=${DUMPS:-$root/target}
verbose=
[ "${1:-}" != -v ] || { verbose=-v && shift; }
suites="planted real"
case "${1:-}" in planted | real) suites=$1 && shift ;; esac

maven() {
    mvn --batch-mode --no-transfer-progress -q -Dstyle.color=never "$@" >&2
}
class_path=org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath
set -- ${verbose:+"$verbose"} "$@"
analyzer=$root/target/readers/bin/leak-suspects
options="-Dagent=${AGENT:-$root/target/release/libhprof_rs.so} -Dcommand=${HPROF:-$root/target/release/hprof}"
options="$options -Djdks=${JDKS:-$root/target/jdks} -Dbasedir=$root/java-tests -Dpatience=300"
[ ! -x "$analyzer" ] || options="$options -Danalyzer=$analyzer"
[ -z "${MAT:-}" ] || options="$options -Dmat=$MAT"

cd "$root/java-tests"
for suite in $suites; do
    mkdir -p "$dumps/$suite"
    if [ "$suite" = planted ]; then
        maven test-compile "$class_path" -Dmdep.outputFile="$root/java-tests/target/class-path" -Dmdep.includeScope=test
        # shellcheck disable=SC2086
        java $options -cp "target/test-classes:$(cat target/class-path)" planted.judge.Score "$dumps/planted" "$@"
    else
        maven -f real compile "$class_path" -Dmdep.outputFile="$root/java-tests/real/target/class-path"
        # shellcheck disable=SC2086
        java $options -cp "real/target/classes:$(cat real/target/class-path)" real.Answers "$dumps/real" "$@"
    fi
done
