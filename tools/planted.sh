#!/bin/sh
# How good the first sentence of `hprof leaks` is: facts of planted leaks that it finds (docs/leak-answers.md). Makes the dumps
# that are not there in target/planted/dumps/, and prints a table, with hprof-analyzer and Eclipse MAT beside ours where
# they are at hand.
# Usage: tools/planted.sh [-v] [KIND...]     -v prints each sentence and each fact that is missing; kinds are chosen by a part of
#                                            their name
#   HPROF=...  AGENT=...    other files than target/release/hprof and libhprof_rs.so
#   DUMPS=...               another folder for the dumps
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
dumps=${DUMPS:-$root/target/planted/dumps}
mkdir -p "$dumps"
cd "$root/java-tests"
mvn --batch-mode --no-transfer-progress -q -Dstyle.color=never test-compile \
    org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath \
    -Dmdep.outputFile="$root/java-tests/target/class-path" -Dmdep.includeScope=test >&2
exec java -Dagent="${AGENT:-$root/target/release/libhprof_rs.so}" -Dcommand="${HPROF:-$root/target/release/hprof}" \
    -cp "target/test-classes:$(cat target/class-path)" planted.judge.Score "$dumps" "$@"
