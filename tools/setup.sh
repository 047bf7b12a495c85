#!/bin/sh
# Makes sure that the programs of the build are there: Rust, a C linker, a JDK, and for the tests Maven and Python with pip.
# As root on a system with apt it installs what is missing; otherwise it prints one line that names all of it.
# Usage: tools/setup.sh [build|demo|page|test|lint|kernels|dist]
#   build: Rust and cc; demo: and Java; page: and Chromium and Python; test, the default: all but Chromium, a JDK and Maven
#   kernels: Rust, cc, a JDK, QEMU and what packs a first file system
#   lint: Rust with rustfmt and Clippy, JDK, Maven
#   dist: what build needs, Maven, Python with venv, readelf and rpmbuild
set -eu

purpose=${1:-test}
# The minimum of all packages, their tests included: rust-version in Cargo.toml.
rust_minor=85

programs=
packages=
by_hand=

has() { command -v "$1" >/dev/null 2>&1; }

# need PROGRAM PACKAGE...: notes the packages if the program is missing.
need() {
    has "$1" || missing "$@"
}

# is_asked PACKAGE: whether it is among those that will be installed.
is_asked() {
    case " $packages " in *" $1 "*) return 0 ;; *) return 1 ;; esac
}

missing() {
    programs="$programs${programs:+, }$1"
    shift
    packages="$packages${packages:+ }$*"
}

may_install=no
if [ "$(id -u)" -eq 0 ] && has apt-get; then may_install=yes; fi

# is_new VERSION: whether this Rust is new enough.
is_new() {
    major=${1%%.*}
    rest=${1#*.}
    case $major${rest%%.*} in '' | *[!0-9]*) return 1 ;; esac
    [ "$major" -gt 1 ] || { [ "$major" -eq 1 ] && [ "${rest%%.*}" -ge $rust_minor ]; }
}

# offers PACKAGE: whether apt has it in a version that is new enough. A version may look like 0.66.0+ds1-1 or 1.85.0+dfsg3-1.
offers() {
    has apt-cache && is_new "$(LC_ALL=C apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *\([0-9]*:\)\{0,1\}//p')"
}

# Rust by apt is rustup and its newest Rust, which builds in less than half the time of Debian's own; or Debian 12's cargo-web.
need_rust() {
    rustup="Rust 1.$rust_minor or newer (https://rustup.rs)"
    if has cargo && ! is_new "$(cargo --version 2>/dev/null | cut -d' ' -f2)"; then
        by_hand="$rustup: the cargo that is there is older"
        return
    fi
    if has cargo; then return; fi
    if LC_ALL=C apt-cache policy rustup 2>/dev/null | grep -q 'Candidate: [0-9]'; then
        missing cargo rustup
    elif offers cargo-web; then
        missing cargo cargo-web
    else
        by_hand=$rustup
    fi
}

if [ $may_install = yes ] && [ -z "$(ls /var/lib/apt/lists 2>/dev/null | grep Packages)" ]; then
    # Without lists nobody knows which Rust there is.
    has cargo || apt-get -qq update
fi
need cc gcc libc6-dev
need_rust
if [ "$purpose" = lint ] && ! is_asked rustup; then
    need cargo-fmt rustfmt
    need cargo-clippy rust-clippy
fi
# The release's own: 17 on Debian 12, 21 on Debian 13.
case $purpose in
    demo) need java default-jre-headless ;;
    test | lint | dist)
        need javac default-jdk-headless
        need mvn maven
        ;;
esac
if [ "$purpose" = page ]; then
    need python3 python3
    need chromium chromium fonts-dejavu-core
fi
if [ "$purpose" = kernels ]; then
    need javac default-jdk-headless
    need qemu-system-x86_64 qemu-system-x86
    need cpio cpio
    need xz xz-utils
fi
if [ "$purpose" = dist ]; then
    need python3 python3
    python3 -c 'import ensurepip' >/dev/null 2>&1 || missing venv python3-venv
    need readelf binutils
    need rpmbuild rpm
fi
if [ "$purpose" = test ]; then
    need python3 python3
    python3 -m pip --version >/dev/null 2>&1 || missing pip python3-pip
fi

if [ -n "$packages$by_hand" ] && { [ $may_install = no ] || [ -n "$by_hand" ]; }; then
    line=
    [ -z "$packages" ] || line="$programs (as root: apt-get install $packages)"
    [ -z "$by_hand" ] || line="$line${line:+; and }$by_hand"
    echo "setup: missing: $line" >&2
    exit 1
fi
[ -n "$packages" ] || exit 0

echo "setup: installing $packages"
apt-get -qq update
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $packages >/dev/null
if is_asked rustup; then
    rustup --quiet toolchain install stable --profile minimal --component rustfmt --component clippy --no-self-update
    rustup --quiet default stable
fi
for program in $(echo "$programs" | tr -d ,); do
    case $program in pip | venv) continue ;; esac
    has "$program" || { echo "setup: $packages are installed, but there is no $program" >&2; exit 1; }
done
