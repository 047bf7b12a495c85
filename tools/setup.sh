#!/bin/sh
# Makes sure that what the build needs is there: a Rust toolchain, a C linker, a JDK, Maven, python3 with pip.
# What is missing is installed with apt where that may be done; else it is named, and how to get it.
# Usage: tools/setup.sh [build|test]      (build: Rust and a JDK; test, the default: Maven and python3 too)
set -eu

purpose=${1:-test}
apt_ready=no

# install PROGRAM PACKAGE...: installs the packages if the program is not there.
install() {
    program=$1
    shift
    ! command -v "$program" >/dev/null 2>&1 || return 0
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
        echo "setup: $program is needed. On Debian: sudo apt-get install $*" >&2
        exit 1
    fi
    if [ $apt_ready = no ]; then
        apt-get -qq update
        apt_ready=yes
    fi
    echo "setup: installing $*"
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" >/dev/null
    command -v "$program" >/dev/null 2>&1 || { echo "setup: $* is installed, but there is no $program" >&2; exit 1; }
}

install cc gcc libc6-dev
# Debian 12's own cargo (1.63) is older than what the crates need: rustup is the way to a newer one.
if ! command -v cargo >/dev/null 2>&1; then
    echo "setup: cargo is needed, 1.88 or newer. Install the Rust toolchain with rustup," >&2
    echo "setup: or on Debian 13 and later: sudo apt-get install cargo rustfmt rust-clippy" >&2
    exit 1
fi
install javac openjdk-17-jdk-headless
if [ "$purpose" = test ]; then
    install mvn maven
    install python3 python3 python3-pip
    python3 -m pip --version >/dev/null 2>&1 || install pip3 python3-pip
fi
