#!/bin/sh
# How good the first sentence of `hprof leaks` is: prints how many facts of planted leaks it has (docs/leak-answers.md), with
# hprof-analyzer beside it once tools/fetch-readers.sh hprof-analyzer has run, and Eclipse MAT if MAT names its program. Makes
# the dumps that are not there.
# Usage: tools/planted.sh [-v] [KIND...]     -v prints each sentence and each fact that is missing; kinds are chosen by a part of
#                                            their name
#   HPROF=...  AGENT=...    other files than target/release/hprof and libhprof_rs.so
#   MAT=...                 the ParseHeapDump.sh of Eclipse MAT
#   DUMPS=...               another folder for the dumps than target/planted/
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
dumps=${DUMPS:-$root/target/planted}
mkdir -p "$dumps"
cd "$root/java-tests"
mvn --batch-mode --no-transfer-progress -q -Dstyle.color=never test-compile \
    org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath \
    -Dmdep.outputFile="$root/java-tests/target/class-path" -Dmdep.includeScope=test >&2
set -- "$dumps" "$@"
analyzer=$root/target/readers/bin/leak-suspects
peers=
[ ! -x "$analyzer" ] || peers="-Danalyzer=$analyzer"
[ -z "${MAT:-}" ] || peers="$peers -Dmat=$MAT"
# shellcheck disable=SC2086
exec java $peers -Dagent="${AGENT:-$root/target/release/libhprof_rs.so}" -Dcommand="${HPROF:-$root/target/release/hprof}" \
    -cp "target/test-classes:$(cat target/class-path)" planted.judge.Score "$@"
