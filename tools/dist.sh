#!/bin/sh
# Builds what a release offers, into target/dist/: hprof-rs-VERSION-TARGET.tar.gz, .deb and .rpm of those for glibc,
# hprof-rs-VERSION-oci.tar (an image's layout), and SHA256SUMS.
# Each archive has the command, the agent's library, manual pages, completions, documents, licences and a bill of materials.
# The same commit gives the same bytes: SOURCE_DATE_EPOCH is its date unless the environment says otherwise.
# Usage: tools/dist.sh [TARGET...]      (default: all four; one that cannot be built is named, and the others are made)
#        tools/dist.sh --only TARGET    (one target; stops at the first fault)
set -eu

tools=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$tools")
cross=$(cd "$root" && mkdir -p target/cross && cd target/cross && pwd -P)
build=$root/target/dist-build
out=$root/target/dist
cd "$root"
only=no
if [ "${1-}" = --only ]; then
    only=yes
    shift
fi
[ $# -gt 0 ] || set -- x86_64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-gnu aarch64-unknown-linux-musl

[ $only = yes ] || "$tools/fetch-cross.sh"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
export RUSTC="$cross/rustc" RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR="$build" PATH="$cross/python/bin:$PATH"
# No path of this machine reaches the files.
remap="--remap-path-prefix=$cross/rust/usr/lib/rustlib/src=/rust --remap-path-prefix=$cross/rust/usr/src=/rust"
remap="$remap --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo --remap-path-prefix=$root=/hprof-rs"

# compile TARGET: the library, and the command; for musl that needs no loader and no library.
compile() {
    case $1 in
        *-musl)
            RUSTFLAGS="$remap -C target-feature=-crt-static" one "$1" hprof-rs
            RUSTFLAGS="$remap -C target-feature=+crt-static" one "$1" hprof
            ;;
        *-gnu)
            RUSTFLAGS=$remap one "$1.2.17" hprof-rs     # the oldest glibc
            RUSTFLAGS=$remap one "$1.2.17" hprof
            ;;
        *) echo "dist: $1 is not a target" >&2; return 1 ;;
    esac
}

# one TARGET PACKAGE
one() {
    cargo zigbuild --release --locked -Zbuild-std=std,panic_unwind --target "$1" --package "$2"
}

# sound FOLDER: no symbol is newer than glibc 2.17, and nothing is needed but the C library.
sound() {
    for file in "$1/libhprof_rs.so" "$1/hprof"; do
        newer=$(readelf --dyn-syms --wide "$file" | grep -o '@GLIBC_[0-9.]*' | sort -uV | awk -F_ '{ split($2, v, "."); if (v[1] > 2 || v[2] > 17) print $2 }')
        [ -z "$newer" ] || { echo "dist: $file needs glibc" $newer >&2; return 1; }
        other=$(readelf --dynamic --wide "$file" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -Ev '^(libc|libm|libdl|librt|libpthread|ld-linux-.*)\.so(\.[0-9])?$' || true)
        [ -z "$other" ] || { echo "dist: $file needs $other" >&2; return 1; }
        ! grep -qaF "$root" "$file" || { echo "dist: $file names a folder of this machine" >&2; return 1; }
    done
}

# stage TARGET: the folder that archives and packages are made of.
stage() {
    folder=$out/hprof-rs-$version-$1
    rm -rf "$folder"
    mkdir -p "$folder"
    cp "$build/$1/release/libhprof_rs.so" "$build/$1/release/hprof" LICENSE README.md CHANGELOG.md "$folder"
    cp -R docs "$folder/docs"
    "$(runnable)" manual "$folder/manual"
    mv "$folder/manual/man1" "$folder/manual/completions" "$folder"
    rmdir "$folder/manual"
    "$cross/python/bin/python" "$tools/dist/contents.py" "$1" "$cross" "$folder"
    sound "$folder"
    find "$folder" -type d -exec chmod 755 {} + -o -type f -exec chmod 644 {} +
    chmod 755 "$folder/hprof"
    (cd "$folder" && find . -type f ! -name SHA256SUMS | LC_ALL=C sort | sed 's/^..//' | xargs sha256sum >SHA256SUMS)
}

# Any command that runs here.
runnable() {
    ls "$build"/x86_64-unknown-linux-*/release/hprof | head -1
}

# archive FOLDER ENTRY FILE: an entry of the folder; the same files give the same bytes.
archive() {
    tar --directory "$1" --sort=name --owner=0 --group=0 --numeric-owner --format=ustar --mtime="@$SOURCE_DATE_EPOCH" \
        --create --file "$out/$3" "$2"
}

pack() {
    name=hprof-rs-$version-$1
    archive "$out" "$name" "$name.tar"
    gzip -9nf "$out/$name.tar"
}

mkdir -p "$out"
if [ $only = yes ]; then
    compile "$1"
    stage "$1"
    pack "$1"
    exit
fi
missing=
for target in "$@"; do
    if "$0" --only "$target"; then
        echo "dist: $out/hprof-rs-$version-$target.tar.gz"
    else
        missing="$missing $target"
    fi
done
# offer NAME COMMAND...: notes what cannot be made.
offer() {
    name=$1
    shift
    if "$@"; then echo "dist: $name"; else missing="$missing $name"; fi
}

image() {
    rm -rf "$out/oci"
    "$cross/python/bin/python" "$tools/dist/image.py" "$version" "$out" "$out/oci" || return 1
    archive "$out/oci" . "hprof-rs-$version-oci.tar"
}

for target in "$@"; do
    case $target in *-gnu)
        [ ! -d "$out/hprof-rs-$version-$target" ] || offer "packages of $target" "$tools/dist/packages.sh" "$target" "$version" "$out" ;;
    esac
done
offer "the image" image
(cd "$out" && find . -maxdepth 1 -type f -name 'hprof-rs*' | LC_ALL=C sort | sed 's/^..//' | xargs sha256sum >SHA256SUMS)
[ -z "$missing" ] || { echo "dist: not built:$missing; the reasons are above" >&2; exit 1; }
