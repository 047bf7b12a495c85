#!/bin/sh
# Fetches packages from Debian and unpacks them into a folder. Nothing is installed.
# Usage: tools/debian-packages.sh [--suite SUITE] [--needed-by] FOLDER PACKAGE[:ARCHITECTURE]...
#   --suite: another one than sid (unstable); its security updates are not asked for
#   --needed-by: also whatever the packages depend on, but for C compilers and the headers of the C library
# Needs a Debian with apt and network to the mirror that apt already uses.
set -eu

fail() { echo "debian-packages: $1" >&2; exit 1; }
closure=no
suite=sid
if [ "$1" = --suite ]; then
    suite=$2
    shift 2
fi
if [ "$1" = --needed-by ]; then
    closure=yes
    shift
fi
folder=$1
shift
for tool in apt-get dpkg-deb; do command -v $tool >/dev/null || fail "$tool is needed for $* (a Debian system)"; done

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
[ -n "$found" ] || fail "no Debian mirror in /etc/apt/sources.list or /etc/apt/sources.list.d to take $* from"

# An apt of its own: the system's mirror and keys, but another suite, and lists and cache under target/. A mirror may be weeks
# behind, so the lists' date does not count; their signature does.
work=$(cd "$(dirname "$0")/.." && pwd)/target/debian/$suite
mkdir -p "$work/sources" "$work/lists/partial" "$work/cache/archives/partial"
echo "deb ${found#* } ${found%% *} $suite main" >"$work/sources/$suite.list"
# What counts as installed, so that no dependency brings it.
for package in gcc binutils libc6-dev; do
    printf 'Package: %s\nStatus: install ok installed\nArchitecture: amd64\nVersion: 999\nProvides: libc-dev\n\n' $package
done >"$work/status"
architectures='"amd64";'
case " $*" in *:arm64*) architectures="$architectures \"arm64\";" ;; esac
cat >"$work/apt.conf" <<CONF
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$work/sources";
Dir::State::lists "$work/lists";
Dir::State::status "$work/status";
Dir::Cache "$work/cache";
APT::Sandbox::User "root";
APT::Architecture "amd64";
APT::Architectures { $architectures };
Acquire::Languages "none";
Acquire::Check-Valid-Until "false";
CONF
export APT_CONFIG=$work/apt.conf
lists() { apt-get -qq update || fail "Debian's package lists cannot be had"; }
case $architectures in *arm64*) newest=arm64 ;; *) newest=amd64 ;; esac
[ -n "$(ls "$work/lists" | grep "${newest}_Packages")" ] || lists

debs=$(mktemp -d "$work/debs.XXXXXX")
trap 'rm -rf "$debs"' EXIT
# download PACKAGE...: with what they need if that is wanted.
download() {
    if [ $closure = yes ]; then
        # shellcheck disable=SC2046
        set -- $(apt-get -qq install --no-install-recommends --print-uris "$@" \
            | sed 's/^.* \([^_ ]*\)_[^ ]*_\([a-z0-9]*\)\.deb .*/\1:\2/;s/:all$//')
        [ $# -gt 0 ] || return 1
    fi
    (cd "$debs" && rm -f ./*.deb && apt-get -qq download "$@")
}
# Unstable moves: packages of yesterday's lists may be gone.
download "$@" || { lists; download "$@"; } || fail "$* cannot be had from Debian $suite"
mkdir -p "$folder"
for deb in "$debs"/*.deb; do dpkg-deb -x "$deb" "$folder"; done
