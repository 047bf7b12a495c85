#!/bin/sh
# Runs cargo with the oldest rustc that Cargo.toml promises (rust-version). Debian's package of it is unpacked into
# target/minimum/, beside the Rust of this machine. Where apt has no package of this version, the script says so and
# succeeds, because no other version can show what this one can.
# Usage: tools/minimum-rust.sh ARGUMENT...      (the arguments of cargo)
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
minimum=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$root/Cargo.toml")
home=$root/target/minimum

# version_of PACKAGE: the version of the package with this Rust; nothing if apt has none.
version_of() {
    apt-cache madison "$1" 2>/dev/null | sed -n "s/^[^|]*| *\($minimum\.[^ ]*\) .*/\1/p" | head -1
}

# unpack PACKAGE: and the libraries of rustc that it depends on.
unpack() {
    version=$(version_of "$1")
    (cd "$home" && apt-get -qq download "$1${version:+=$version}" && dpkg-deb -x "$1"_*.deb .)
    for needed in $(dpkg-deb -f "$home/$1"_*.deb Depends | tr -d ' ' | tr ',' '\n' | sed 's/[(:|].*//' | grep -E '^lib(std-rust|[lL]{2}[vV][mM])'); do
        [ -n "$(ls "$home/$needed"_*.deb 2>/dev/null)" ] || unpack "$needed"
    done
}

# Scripts, because both search for their libraries in the system's folders only.
rustc=$home/rustc
rustdoc=$home/rustdoc
if ! "$rustc" --version >/dev/null 2>&1 || ! "$rustdoc" --version >/dev/null 2>&1; then
    if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
        echo "minimum-rust: left out: without apt there is no Rust $minimum to be had"
        exit
    fi
    [ "$(id -u)" -ne 0 ] || apt-get -qq update
    for package in rustc-web rustc; do [ -z "$(version_of $package)" ] || break; done
    if [ -z "$(version_of $package)" ]; then
        echo "minimum-rust: left out: apt has no Rust $minimum"
        exit
    fi
    rm -rf "$home"
    mkdir -p "$home"
    unpack "$package"
    libraries=$(dirname "$(find "$home" -name 'librustc_driver-*.so')")
    for tool in "$rustc" "$rustdoc"; do
        printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$libraries" "$home/usr/bin/$(basename "$tool")" >"$tool"
        chmod +x "$tool"
    done
fi
"$rustc" --version
RUSTC=$rustc RUSTDOC=$rustdoc exec cargo "$@" --target-dir "$home/build"
