#!/bin/sh
# Builds what a release offers, into target/dist/: hprof-rs-VERSION-TARGET.tar.gz, .deb and .rpm of those for glibc,
# hprof-rs-VERSION-oci.tar (an image's layout), jars for Maven, and SHA256SUMS.
# Each archive has the command, the agent's library, manual pages, completions, documents, licences and a bill of materials.
# The same commit gives the same bytes: SOURCE_DATE_EPOCH is its date unless the environment says otherwise.
# Usage: tools/dist.sh                  (all; what cannot be built is named, and the rest is made)
#        tools/dist.sh TARGET...        (archives and packages of these alone, no image and no jars)
#        tools/dist.sh --only TARGET    (one target; stops at the first fault)
#        tools/dist.sh --library TARGET (its library alone, which stays in target/dist-build/TARGET/release/)
set -eu

tools=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$tools")
cross=$(cd "$root" && mkdir -p target/cross && cd target/cross && pwd -P)
build=$root/target/dist-build
out=$root/target/dist
cd "$root"
only=no
case ${1-} in
    --only) only=yes ;;
    --library) only=library ;;
esac
[ $only = no ] || shift
all='x86_64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-gnu aarch64-unknown-linux-musl'
whole=no
if [ $# -eq 0 ]; then
    whole=yes
    # shellcheck disable=SC2086
    set -- $all
fi

[ $only = yes ] || "$tools/fetch-cross.sh"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
export RUSTC="$cross/rustc" RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR="$build" PATH="$cross/python/bin:$PATH"
# No path of this machine reaches the files. The last prefix that fits counts, and the toolchain may lie inside of the root.
remap="--remap-path-prefix=$root=/hprof-rs --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
remap="$remap --remap-path-prefix=$cross/rust/usr/src=/rust --remap-path-prefix=$cross/rust/usr/lib/rustlib/src/rust=/rust"

# library TARGET: the agent.
library() {
    case $1 in
        *-musl) RUSTFLAGS="$remap -C target-feature=-crt-static" one "$1" hprof-rs ;;
        *-gnu) RUSTFLAGS=$remap one "$1.2.17" hprof-rs ;;   # the oldest glibc
        *) echo "dist: $1 is not a target" >&2; return 1 ;;
    esac
}

# command_of TARGET: for musl it needs no loader and no library.
command_of() {
    case $1 in
        # The C library and what starts a program are zig's: this Rust brings none.
        *-musl) RUSTFLAGS="$remap -C target-feature=+crt-static -C link-self-contained=no" one "$1" hprof ;;
        *) RUSTFLAGS=$remap one "$1.2.17" hprof ;;
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
        ! grep -qaF -e "$root" -e "$cross" "$file" || { echo "dist: $file names a folder of this machine" >&2; return 1; }
    done
}

# The README without what only the repository has: how to build, and the pages about its inside.
readme() {
    sed -e '/^## Get it/,/^## Dump a heap/{ /^## Dump a heap/!d; }' \
        -e '/^- Inside: /,/^$/c - [Changes](CHANGELOG.md)\n' README.md
}

# stage TARGET: the folder that archives and packages are made of.
stage() {
    folder=$out/hprof-rs-$version-$1
    rm -rf "$folder"
    mkdir -p "$folder"
    cp "$build/$1/release/libhprof_rs.so" "$build/$1/release/hprof" LICENSE CHANGELOG.md "$folder"
    readme >"$folder/README.md"
    cp -R docs "$folder/docs"
    case $1 in x86_64-*) here=$build/$1/release/hprof ;; *) here=${HERE:-$(built_here)} ;; esac
    "$here" --manual "$folder/manual"
    mv "$folder/manual/man1" "$folder/manual/completions" "$folder"
    rmdir "$folder/manual"
    "$cross/python/bin/python" "$tools/dist/contents.py" "$1" "$cross" "$folder"
    sound "$folder"
    find "$folder" -type d -exec chmod 755 {} + -o -type f -exec chmod 644 {} +
    chmod 755 "$folder/hprof"
    (cd "$folder" && find . -type f ! -name SHA256SUMS | LC_ALL=C sort | sed 's/^..//' | xargs sha256sum >SHA256SUMS)
}

# The command for this machine, if no target of this run is for it.
built_here() {
    env -u RUSTC -u RUSTC_BOOTSTRAP -u CARGO_TARGET_DIR cargo build --locked --package hprof >&2
    echo target/debug/hprof
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
if [ $only = library ]; then
    library "$1"
    exit
fi
if [ $only = yes ]; then
    library "$1"
    command_of "$1"
    stage "$1"
    pack "$1"
    exit
fi
missing=
HERE=
export HERE
for target in "$@"; do
    if "$0" --only "$target"; then
        echo "dist: $out/hprof-rs-$version-$target.tar.gz"
        case $target in x86_64-*) HERE=$build/$target/release/hprof ;; esac
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

# One jar with all libraries, one for each target, those that build on them, and their POMs.
jars() {
    inside=$build/inside
    rm -rf "$inside" java/*/target
    for target in $all; do
        staged=$out/hprof-rs-$version-$target
        [ -d "$staged" ] || { echo "dist: the jars need $target, too" >&2; return 1; }
        install -D -m 644 "$staged/libhprof_rs.so" "$inside/natives/$target/libhprof_rs.so"
        # Static, so that it runs beside every C library.
        case $target in *-musl) install -D -m 755 "$staged/hprof" "$inside/commands/${target%%-*}/hprof" ;; esac
        for text in LICENSE LICENSES-OF-OTHERS.txt; do
            install -m 644 "$staged/$text" "$inside/natives/$target"
            case $target in *-musl) install -m 644 "$staged/$text" "$inside/commands/${target%%-*}" ;; esac
        done
    done
    (cd java && mvn --batch-mode --no-transfer-progress --quiet package -Pplatforms -Dnatives="$inside/natives" \
        -Dcommands="$inside/commands" -Dproject.build.outputTimestamp="$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)") || return 1
    rm -rf "$out/jars"
    mkdir "$out/jars"
    cp java/*/target/*.jar "$out/jars"
    for pom in java/pom.xml java/*/pom.xml; do
        artifact=$(sed -n '/<parent>/,/<\/parent>/d;s/.*<artifactId>\(.*\)<\/artifactId>.*/\1/p' "$pom" | head -n 1)
        cp "$pom" "$out/jars/$artifact-$version.pom"
    done
    rm -rf java/*/target
}

for target in "$@"; do
    case $target in *-gnu)
        [ ! -d "$out/hprof-rs-$version-$target" ] || offer "packages of $target" "$tools/dist/packages.sh" "$target" "$version" "$out" ;;
    esac
done
if [ $whole = yes ]; then
    offer "the image" image
    offer "the jars" jars
fi
(cd "$out" && find . -maxdepth 2 -type f ! -path './hprof-rs*/*' ! -path './oci/*' ! -name SHA256SUMS | LC_ALL=C sort | sed 's/^..//' \
    | xargs sha256sum >SHA256SUMS)
[ -z "$missing" ] || { echo "dist: not built:$missing; the reasons are above" >&2; exit 1; }
