#!/bin/sh
# Gets the foreign readers that are judges in java-tests/, once, into target/readers/: hprof-slurp, built into bin/, for heap
# dumps; gprof2dot and hprof2flamegraph, from PyPI into python/, for profiles as text; DuckDB, from there into duckdb/, for the
# tables of hprof export. With the word spark it gets Spark alone, into spark/, which make sql-test asks.
set -eu

slurp=0.10.0
root=$(cd "$(dirname "$0")/.." && pwd)
readers=$root/target/readers

fail() {
    echo "fetch-readers: $*" >&2
    exit 1
}

fetch_slurp() {
    if [ -x "$readers/bin/hprof-slurp" ] && [ "$(cat "$readers/.hprof-slurp" 2>/dev/null)" = "$slurp" ]; then
        echo "hprof-slurp: there already ($slurp)"
        return
    fi
    command -v cargo >/dev/null || fail "cargo is needed (the Rust toolchain)"
    # In a folder away from this workspace's own settings.
    (cd "$readers" && cargo install --quiet --locked --root . --target-dir build "hprof-slurp@$slurp") ||
        fail "hprof-slurp $slurp cannot be had or built"
    rm -rf "$readers/build"
    echo "$slurp" >"$readers/.hprof-slurp"
    echo "hprof-slurp: built ($slurp)"
}

# Exactly these files: pip refuses others.
python_readers() {
    echo "gprof2dot==2025.4.14 --hash=sha256:0742e4c0b4409a5e8777e739388a11e1ed3750be86895655312ea7c20bd0090e"
    echo "hprof2flamegraph==0.0.6 --hash=sha256:efa8ad38910c27f67ecb40e4be9470f8834e2cadc82f61a2ec0cd81ef2ee111b"
}

fetch_python() {
    if [ "$(cat "$readers/.python" 2>/dev/null)" = "$(python_readers)" ]; then
        echo "gprof2dot, hprof2flamegraph: there already"
        return
    fi
    python3 -m pip --version >/dev/null 2>&1 || fail "python3 with pip is needed: see tools/setup.sh"
    rm -rf "$readers/python"
    python_readers >"$readers/python.txt"
    PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --require-hashes \
        --requirement "$readers/python.txt" --target "$readers/python" ||
        fail "gprof2dot or hprof2flamegraph cannot be had in the versions of $readers/python.txt"
    mv "$readers/python.txt" "$readers/.python"
    echo "gprof2dot, hprof2flamegraph: fetched"
}

# For Python 3.11, and for later ones.
duckdb() {
    echo "duckdb==2.0.1 --hash=sha256:eb32b389d99d14cbbec4c110f58237c77eacefc65ef6f737619f413c97a91a77" \
        "--hash=sha256:39ffeb136abed770a496e5592a464f18a07b1543e7ddb1ff6453215e179f1647"
}

# py4j is what pyspark asks for.
spark() {
    echo "pyspark==4.3.0 --hash=sha256:e8c517948eff7088a7aa07449aa8eafa4a15a8d50319de2525a6fd26622476c6"
    echo "py4j==0.10.9.9 --hash=sha256:c7c26e4158defb37b0bb124933163641a2ff6e3a3913f7811b0ddbe07ed61533"
}

# fetch_engine NAME: an SQL engine as a Python package, into the folder of its name.
fetch_engine() {
    if [ "$(cat "$readers/.$1" 2>/dev/null)" = "$("$1")" ]; then
        echo "$1: there already"
        return
    fi
    python3 -m pip --version >/dev/null 2>&1 || fail "python3 with pip is needed: see tools/setup.sh"
    rm -rf "${readers:?}/$1"
    "$1" >"$readers/$1.txt"
    PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --require-hashes \
        --requirement "$readers/$1.txt" --target "$readers/$1" ||
        fail "$1 cannot be had in the version of $readers/$1.txt"
    mv "$readers/$1.txt" "$readers/.$1"
    echo "$1: fetched"
}

mkdir -p "$readers"
if [ "${1:-}" = spark ]; then
    fetch_engine spark
    exit
fi
fetch_slurp
fetch_python
fetch_engine duckdb
