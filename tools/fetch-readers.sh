#!/bin/sh
# Gets the foreign readers that are judges in java-tests/, once, into target/readers/: hprof-slurp, built into bin/, for heap
# dumps; gprof2dot and hprof2flamegraph, from PyPI into python/, for profiles as text; DuckDB, from there into duckdb/, for the
# tables of hprof convert; a client of the Model Context Protocol into mcp/, for hprof mcp. With the word spark it gets Spark
# alone, into spark/, which make sql-test asks; with hprof-analyzer the program of tools/hprof-analyzer/ alone, into bin/, which
# make peers-test asks.
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
    # In a folder away from this workspace's own settings. It reads small dumps, so a release is not worth its minute.
    (cd "$readers" && CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --locked --debug --root . --target-dir build "hprof-slurp@$slurp") ||
        fail "hprof-slurp $slurp cannot be had or built"
    rm -rf "$readers/build"
    echo "$slurp" >"$readers/.hprof-slurp"
    echo "hprof-slurp: built ($slurp)"
}

# The whole program, as its package has it, would take ten times as long to build.
fetch_analyzer() {
    pinned=$(cat "$root/tools/hprof-analyzer/Cargo.lock" "$root/tools/hprof-analyzer/"*.rs)
    if [ -x "$readers/bin/retained-sizes" ] && [ "$(cat "$readers/.hprof-analyzer" 2>/dev/null)" = "$pinned" ]; then
        echo "hprof-analyzer: there already"
        return
    fi
    command -v cargo >/dev/null || fail "cargo is needed (the Rust toolchain)"
    (cd "$root/tools/hprof-analyzer" && cargo build --quiet --locked --target-dir "$readers/build") ||
        fail "hprof-analyzer cannot be had or built"
    mkdir -p "$readers/bin"
    cp "$readers/build/debug/retained-sizes" "$readers/build/debug/leak-suspects" "$readers/bin/"
    rm -rf "$readers/build"
    echo "$pinned" >"$readers/.hprof-analyzer"
    echo "hprof-analyzer: built"
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

# The protocol's own client library and what it imports, for Python 3.11, 3.12 and 3.13.
mcp() {
    echo "mcp==2.3.0 --hash=sha256:dd0c44c089d16453e8ae31a3877a0054d7a2314caaa81f5e0541b9b1734b2377"
    echo "annotated-types==0.8.0 --hash=sha256:f072f4d804ea359e4eaf198b1af7a8b0943881a87f31bb764f8bf219bb9419e0"
    echo "anyio==4.16.0 --hash=sha256:c66ae634e0b8228396b801741beb3294326d4b6102f7bba4041c0dfb58c29026"
    echo "attrs==26.1.0 --hash=sha256:c647aa4a12dfbad9333ca4e71fe62ddc36f4e63b2d260a37a8b83d2f043ac309"
    echo "cffi==2.1.1 --hash=sha256:34e261f78cb6ceaaa36f42f2613f4380d94d9c759a9c73c769ee6e0247364632" \
        "--hash=sha256:c1453022f490d2459a11819d83ad1d586e9ff65a12ac3e705ffebd46d3685dcf" \
        "--hash=sha256:a931079504ecc49efed7744c476a5c343a92fabf66dec2db95edb1b2fdc770e2"
    echo "click==8.5.1 --hash=sha256:8bb5376d2006950386f8c6427613334a2acadc5f559cb80e638d00b4df957e37"
    echo "cryptography==50.0.2 --hash=sha256:4061c0079120205fb760c58acab6443e217307dcf05e3702cf970e0689972856"
    echo "h11==0.16.0 --hash=sha256:63cf8bbe7522de3bf65932fda1d9c2772064ffb3dae62d55932da54b31cb6c86"
    echo "httpcore2==2.16.2 --hash=sha256:16051ae2a42f776007543f32de9349a317b23d2cbb4e1456b4bac0e88b87419a"
    echo "httpx2==2.16.2 --hash=sha256:f05c13aade4c45dbf1c9060647a1058f0acad62398fad96e741269edb33d46f5"
    echo "idna==3.20 --hash=sha256:ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c"
    echo "jsonschema==4.26.0 --hash=sha256:d489f15263b8d200f8387e64b4c3a75f06629559fb73deb8fdfb525f2dab50ce"
    echo "jsonschema-specifications==2025.9.1 --hash=sha256:98802fee3a11ee76ecaca44429fda8a41bff98b00a0f2838151b113f210cc6fe"
    echo "mcp-types==2.3.0 --hash=sha256:968efdbdaedfab06adae40d378a34395f1090c5921d4be3c9cde283aaf76d91d"
    echo "opentelemetry-api==1.45.2 --hash=sha256:2cbd737377e710ee740d261c94e93fa0f08e6d037c18f17513cc0a2d94479a34"
    echo "pycparser==3.12 --hash=sha256:a076f3f489b39b43ed13563a1dafe42447445bec2e294154ec5c57fcdda4c85e"
    echo "pydantic==2.14.4 --hash=sha256:653a2ad9f6d8858529c77c72717d0ea991d6c6837fe683246b2f4b2bbfc3fadc"
    echo "pydantic-core==2.50.5 --hash=sha256:488319076ec92908b91fc6265ce761f1d78748f69f85518564fd16bf333e1b70" \
        "--hash=sha256:470bbc2495367f60d3ca849a8039e4c164701d10637e7743f4427d92651bdb6d" \
        "--hash=sha256:cbfde3ad127786f1dea1a6cd89a5eb824a16203f24743ad2b4e07506f43bc844"
    echo "pyjwt==2.15.1 --hash=sha256:42d59d631f7768a1028a64c7ff581a9bf7519804daf91fc5b6c56e30eec5e193"
    echo "python-multipart==0.0.34 --hash=sha256:ebacd224bd686eee2f9aa1066a657affe07435a185834e05e5235e2e59173e91"
    echo "referencing==0.37.0 --hash=sha256:381329a9f99628c9069361716891d34ad94af76e461dcb0335825aecc7692231"
    echo "rpds-py==2026.9.1 --hash=sha256:136a1c3fe4402b7008bc81cb62ee538481795b61a7e83df88dff3b3f02b726ff" \
        "--hash=sha256:addeda51556dac7c1a2f14cda62db8b621cd12afba3091d03a96c72932387eab" \
        "--hash=sha256:7868b85224291c6cb6759f9b5adb9745f486d226f62b16a614dd5a2a5ab2b35b"
    echo "sse-starlette==3.7.0 --hash=sha256:f1d3136caa12d129284fca3d2ded79bc9af943320b6472712955fea52a6d3eea"
    echo "starlette==1.10.0 --hash=sha256:478c0ab3b4ced6e82719849c118fa406f0278a3499c1a898cd15cd31bdc38ce4"
    echo "truststore==0.10.5 --hash=sha256:9aaaedaefaf06d8b206278cf8b5012bc897f485a874503501e12d776df78951c"
    echo "typing-extensions==4.16.0 --hash=sha256:481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8"
    echo "typing-inspection==0.4.5 --hash=sha256:bc210535442b39e1bf2805e0c7a17dfd6a4ace760c84c7f7d16245d23a6b1c39"
    echo "uvicorn==0.54.0 --hash=sha256:505bdb0f318731d45f1f712071fc781a8981f6847a31c902c9f5e652d4f67faf"
}

# fetch_package NAME: Python packages, into the folder of this name.
fetch_package() {
    if [ "$(cat "$readers/.$1" 2>/dev/null)" = "$("$1")" ]; then
        echo "$1: there already"
        return
    fi
    python3 -m pip --version >/dev/null 2>&1 || fail "python3 with pip is needed: see tools/setup.sh"
    rm -rf "${readers:?}/$1"
    "$1" >"$readers/$1.txt"
    PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --require-hashes \
        --requirement "$readers/$1.txt" --target "$readers/$1" ||
        fail "$1 cannot be had in the versions of $readers/$1.txt"
    mv "$readers/$1.txt" "$readers/.$1"
    echo "$1: fetched"
}

mkdir -p "$readers"
case "${1:-}" in
    spark) fetch_package spark; exit ;;
    hprof-analyzer) fetch_analyzer; exit ;;
esac
fetch_slurp
fetch_python
fetch_package duckdb
fetch_package mcp
