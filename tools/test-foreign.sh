#!/bin/sh
# The core scenarios of java-tests on Java runtimes for another C library (musl) and another processor (aarch64, emulated),
# with the libraries of target/dist, or with those that it builds. What runs the tests, and the command `hprof`, are this
# machine's.
# Usage: tools/test-foreign.sh [musl|aarch64]...     (default: both)      TEST=NAMES chooses other tests, JDK=21 one of the Javas
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
"$root/tools/fetch-foreign.sh"
tests=${TEST:-ValuesTest,ThreadsTest,LifeCycleTest,SitesTest,CpuSamplesTest,HarmTest}
[ $# -gt 0 ] || set -- musl aarch64
failed=
for kind in "$@"; do
    case $kind in
        musl)
            target=x86_64-unknown-linux-musl
            set -- -Dcc=cc
            ;;
        aarch64)
            target=aarch64-unknown-linux-gnu
            # What HarmTest loads into the JVM is for its processor, too, and not for the emulator.
            compiler="$root/target/cross/python/bin/python -m ziglang cc -target aarch64-linux-gnu"
            set -- "-Dcc=$compiler" -Dpreload=QEMU_SET_ENV=LD_PRELOAD
            # What the emulator cannot do is tried, and the tests that need it are left out.
            foreign=$root/target/foreign
            $compiler -o "$foreign/own_memory" "$root/tools/foreign/own_memory.c"
            "$foreign/qemu/usr/bin/qemu-aarch64" -L "$foreign/arm64" "$foreign/own_memory" || set -- "$@" -Dunreadable=true
            ;;
        *) echo "test-foreign: $kind is neither musl nor aarch64" >&2; exit 2 ;;
    esac
    library=$(ls "$root"/target/dist/hprof-rs-*-$target/libhprof_rs.so 2>/dev/null) || {
        "$root/tools/dist.sh" --library "$target"
        library=$root/target/dist-build/$target/release/libhprof_rs.so
    }
    # Emulated, everything takes ten times as long.
    (cd "$root/java-tests" && mvn --batch-mode --no-transfer-progress test -Dtest="$tests" -Djdk="${JDK-}" -Dagent="$library" \
        -Dforeign="$root/target/foreign/jdks/$kind" -Dpatience=400 "$@") || failed="$failed $kind"
done
[ -z "$failed" ] || { echo "test-foreign: failed:$failed" >&2; exit 1; }
