#!/bin/sh
# Builds the foreign HPROF reader hprof-slurp, a judge in java-tests/, once into target/readers/bin/.
set -eu

version=0.10.0
root=$(cd "$(dirname "$0")/.." && pwd)
readers=$root/target/readers

if [ -x "$readers/bin/hprof-slurp" ] && [ "$(cat "$readers/.hprof-slurp" 2>/dev/null)" = "$version" ]; then
    echo "hprof-slurp: there already ($version)"
    exit 0
fi
command -v cargo >/dev/null || { echo "fetch-readers: cargo is needed (the Rust toolchain)" >&2; exit 1; }
mkdir -p "$readers"
cd "$readers"                                    # away from this workspace's own settings
if ! cargo install --quiet --locked --root "$readers" --target-dir "$readers/build" "hprof-slurp@$version"; then
    echo "fetch-readers: hprof-slurp $version cannot be had or built" >&2
    exit 1
fi
rm -rf "$readers/build"
echo "$version" >"$readers/.hprof-slurp"
echo "hprof-slurp: built ($version)"
