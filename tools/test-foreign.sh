#!/bin/sh
# The core scenarios of java-tests on Java runtimes for another C library (musl) and another processor (aarch64, emulated),
# with the libraries that tools/dist.sh made. What runs the tests, and the command `hprof`, are this machine's.
# Usage: tools/test-foreign.sh [musl|aarch64]...     (default: both)      TEST=NAMES chooses other tests, JDK=21 one of the Javas
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
"$root/tools/fetch-foreign.sh"
tests=${TEST:-ValuesTest,ThreadsTest,LifeCycleTest,SitesTest,CpuSamplesTest,HarmTest}
[ $# -gt 0 ] || set -- musl aarch64
failed=
for kind in "$@"; do
    case $kind in
        musl) target=x86_64-unknown-linux-musl ;;
        aarch64) target=aarch64-unknown-linux-gnu ;;
        *) echo "test-foreign: $kind is neither musl nor aarch64" >&2; exit 2 ;;
    esac
    library=$(ls "$root"/target/dist/hprof-rs-*-$target/libhprof_rs.so) || { echo "test-foreign: first: tools/dist.sh $target" >&2; exit 1; }
    # Emulated, everything takes ten times as long.
    (cd "$root/java-tests" && mvn --batch-mode --no-transfer-progress test -Dtest="$tests" -Djdk="${JDK-}" -Dagent="$library" \
        -Dforeign="$root/target/foreign/jdks/$kind" -Dpatience=400) || failed="$failed $kind"
done
[ -z "$failed" ] || { echo "test-foreign: failed:$failed" >&2; exit 1; }
