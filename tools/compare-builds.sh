#!/bin/sh
# Builds the archive of one target once more, in a clone of this commit at another place, and compares it byte for byte with
# the one that tools/dist.sh has made here. Names the files that differ, and then exits with 1.
# Usage: tools/compare-builds.sh [TARGET]      (default: x86_64-unknown-linux-gnu)
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
target=${1:-x86_64-unknown-linux-gnu}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -1)
name=hprof-rs-$version-$target
[ -f "$root/target/dist/$name.tar.gz" ] || { echo "compare-builds: make target/dist/$name.tar.gz first: tools/dist.sh" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
clone=$work/another-place
git clone --quiet "$root" "$clone"
mkdir "$clone/target"
ln -s "$root/target/cross" "$clone/target/cross"
"$clone/tools/dist.sh" --only "$target"
(cd "$clone/target/dist/$name" && sha256sum --check --quiet "$root/target/dist/$name/SHA256SUMS") || {
    echo "compare-builds: these files of $name differ" >&2
    exit 1
}
cmp "$root/target/dist/$name.tar.gz" "$clone/target/dist/$name.tar.gz"
echo "compare-builds: two builds of $name.tar.gz are the same"
