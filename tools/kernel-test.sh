#!/bin/sh
# Boots Debian's kernels in QEMU, without KVM, and makes the dumps of tools/kernels/guest.sh on each: 5.10, 6.1, 6.12 and the
# newest. Three minutes a kernel. Times are those of an emulator, so nothing is measured.
# Usage: tools/kernel-test.sh [SUITE...]     bullseye bookworm trixie sid; all of them without a name
# Needs target/quick, target/jdks, a C compiler, javac, QEMU and cpio (tools/setup.sh kernels).
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=$root/target/kernels
mkdir -p "$work"
[ $# -gt 0 ] || set -- bullseye bookworm trixie sid

# What a kernel without anything built in needs to mount the host's root.
modules='virtio virtio_ring virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci netfs fscache 9pnet 9pnet_virtio 9p'

cc -O1 -o "$work/filter" "$root/java-tests/src/test/java/harm/filter.c"
cc -O1 -static -o "$work/init" "$root/tools/kernels/init.c"
javac -source 8 -target 8 -Xlint:-options -d "$work" "$root/tools/kernels/Cells.java"
{ echo "HERE='$root'"; cat "$root/tools/kernels/guest.sh"; } >"$work/guest.sh"

# packages SUITE: the names of those with the newest kernel and its modules.
packages() {
    export APT_CONFIG="$root/target/debian/$1/apt.conf"
    image=$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p')
    parts=$(apt-cache depends "$image" | sed -n 's/.*Depends: \(linux-\(binary\|modules\)-[0-9].*\)/\1/p')
    echo "${parts:-$image}"
}

# fetch SUITE: into a folder of its own.
fetch() {
    [ ! -e "$work/$1/kernel" ] || return 0
    # The lists come with a first package.
    "$root/tools/debian-packages.sh" --suite "$1" "$work/$1" base-files
    # shellcheck disable=SC2046
    "$root/tools/debian-packages.sh" --suite "$1" "$work/$1" $(packages "$1")
    cp "$(ls "$work/$1"/boot/vmlinuz-* "$work/$1"/usr/lib/modules/*/vmlinuz 2>/dev/null | head -n 1)" "$work/$1/kernel"
    initrd "$work/$1"
}

# initrd FOLDER: the first file system, with init and the modules.
initrd() {
    rm -rf "$1/first" && mkdir -p "$1/first/m" "$1/first/dev" "$1/first/proc"
    cp "$work/init" "$1/first/init"
    for module in $modules; do
        file=$(find "$1" -name "$module.ko*" | head -n 1)
        case $file in
            *.ko.xz) xz -dc "$file" >"$1/first/m/$module.ko" ;;
            *.ko) cp "$file" "$1/first/m/" ;;
        esac
    done
    (cd "$1/first" && find . | cpio --quiet -o -H newc) >"$1/initrd"
}

red=
for suite; do
    fetch "$suite"
    status=0
    timeout 600 qemu-system-x86_64 -M pc -accel tcg,thread=multi -cpu max,la57=off -smp 2 -m 3072 -nodefaults -no-user-config \
        -display none -serial stdio -no-reboot -device isa-debug-exit,iobase=0xf4,iosize=4 \
        -fsdev local,id=r,path=/,security_model=none,readonly=on,multidevs=remap -device virtio-9p-pci,fsdev=r,mount_tag=root \
        -kernel "$work/$suite/kernel" -initrd "$work/$suite/initrd" \
        -append "console=ttyS0 quiet panic=-1 mitigations=off nokaslr random.trust_cpu=on tsc=reliable run=$work/guest.sh" \
        </dev/null || status=$?
    # Twice the status of the script, and one; another number if it never ended.
    [ $status -eq 1 ] || red="$red $suite"
done
[ -z "$red" ] || { echo "kernel-test: red on$red" >&2; exit 1; }
