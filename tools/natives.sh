#!/bin/sh
# Puts what was built for this machine where the jar takes it from: target/natives/ and target/commands/.
# Usage: tools/natives.sh release|quick
set -eu

cd "$(dirname "$0")/.."
host=$(rustc -vV | sed -n 's/^host: //p')
rm -rf target/natives target/commands
mkdir -p "target/natives/$host" "target/commands/${host%%-*}"
cp "target/$1/libhprof_rs.so" "target/natives/$host/"
cp "target/$1/hprof" "target/commands/${host%%-*}/"
