#!/bin/sh
# Fetches what tools/dist.sh compiles with into target/cross/:
#   rust     Rust from Debian unstable, and its library as source: std is compiled for each target
#   rustc    runs it beside unstable's C library, which is newer than this system's
#   python   zig, the linker and C compiler for all targets, and cargo-zigbuild, from the Python package index
# Needs an x86-64 Debian with apt, and python3 with pip.
set -eu

tools=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$tools")
# The real folder, as tools/dist.sh names it: the compiler tells the places of its library by this name.
cross=$(mkdir -p "$root/target/cross" && cd "$root/target/cross" && pwd -P)
fail() { echo "fetch-cross: $1" >&2; exit 1; }

rust=$cross/rust/usr
if [ ! -d "$rust/lib/rustlib/src/rust/library" ]; then
    rm -rf "$cross/rust"
    "$tools/debian-packages.sh" --needed-by "$cross/rust" rustc rust-src
fi
libraries=$rust/lib/x86_64-linux-gnu
printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" --sysroot "%s" "$@"\n' \
    "$libraries/ld-linux-x86-64.so.2" "$libraries" "$rust/bin/rustc" "$rust" >"$cross/rustc"
chmod +x "$cross/rustc"
"$cross/rustc" --version

if [ ! -x "$cross/python/bin/cargo-zigbuild" ]; then
    rm -rf "$cross/python"
    python3 -m venv "$cross/python" || fail "python3 -m venv does not work here (apt-get install python3-venv)"
    "$cross/python/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.1 cargo-zigbuild==0.24.1 \
        || fail "zig cannot be had from the Python package index"
fi
echo "zig $("$cross/python/bin/python" -m ziglang version)"
