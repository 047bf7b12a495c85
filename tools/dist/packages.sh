#!/bin/sh
# Makes a .deb and an .rpm of the folder that tools/dist.sh staged for a target with glibc.
# Usage: tools/dist/packages.sh TARGET VERSION DIST      SOURCE_DATE_EPOCH is the time of all files
# Needs dpkg-deb and rpmbuild (as root on Debian: apt-get install rpm).
set -eu

target=$1
version=$2
dist=$3
staged=$dist/hprof-rs-$version-$target
root=$dist/.root-$target
case $target in
    x86_64-*) deb=amd64 rpm=x86_64 ;;
    aarch64-*) deb=arm64 rpm=aarch64 ;;
esac

# The command finds its libraries beside itself; the one for musl is for JVMs in containers.
rm -rf "$root"
home=$root/usr/lib/hprof-rs
share=$root/usr/share
mkdir -p "$home" "$root/usr/bin" "$share/man/man1" "$share/doc/hprof-rs" \
    "$share/bash-completion/completions" "$share/zsh/site-functions" "$share/fish/vendor_completions.d"
cp "$staged/hprof" "$staged/libhprof_rs.so" "$home"
musl=$dist/hprof-rs-$version-${target%-gnu}-musl/libhprof_rs.so
[ ! -e "$musl" ] || { mkdir "$home/musl"; cp "$musl" "$home/musl"; }
ln -s ../lib/hprof-rs/hprof "$root/usr/bin/hprof"
for page in "$staged"/man1/*; do gzip -9n <"$page" >"$share/man/man1/$(basename "$page").gz"; done
cp "$staged/completions/hprof.bash" "$share/bash-completion/completions/hprof"
cp "$staged/completions/_hprof" "$share/zsh/site-functions"
cp "$staged/completions/hprof.fish" "$share/fish/vendor_completions.d"
cp -R "$staged/docs" "$staged/README.md" "$staged/CHANGELOG.md" "$staged/hprof-rs.cdx.json" "$share/doc/hprof-rs"
cat "$staged/LICENSE" "$staged/LICENSES-OF-OTHERS.txt" >"$share/doc/hprof-rs/copyright"
find "$root" -type d -exec chmod 755 {} +
find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +

summary='Heap dumps of running JVMs that pause the application for milliseconds'
# rpm first: the folder must not yet have DEBIAN.
work=$(mktemp -d "$dist/.rpm.XXXXXX")
trap 'rm -rf "$work"' EXIT
cat >"$work/hprof-rs.spec" <<SPEC
Name: hprof-rs
Version: $version
Release: 1
Summary: $summary
License: Apache-2.0 AND CDDL-1.0 AND MIT AND BSD-3-Clause
# Nothing here runs on musl.
%global __requires_exclude_from ^/usr/lib/hprof-rs/musl/.*$
%description
A JVMTI agent for HotSpot 8 to 26, and the command hprof, which makes and analyses heap dumps.
%install
cp -a $root/. %{buildroot}
%files
%defattr(-,root,root)
/usr/bin/hprof
/usr/lib/hprof-rs
/usr/share/man/man1/*
/usr/share/bash-completion/completions/hprof
/usr/share/zsh/site-functions/_hprof
/usr/share/fish/vendor_completions.d/hprof.fish
/usr/share/doc/hprof-rs
SPEC
rpmbuild -bb --quiet --target "$rpm" --define "_topdir $work" --define "_rpmdir $dist" --define '_build_name_fmt %{NAME}-%{VERSION}.%{ARCH}.rpm' \
    --define 'debug_package %{nil}' --define '__os_install_post %{nil}' --define '_build_id_links none' --define '_buildhost localhost' \
    --define 'use_source_date_epoch_as_buildtime 1' --define 'clamp_mtime_to_source_date_epoch 1' "$work/hprof-rs.spec"

mkdir "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<CONTROL
Package: hprof-rs
Version: $version
Architecture: $deb
Depends: libc6 (>= 2.17)
Maintainer: the maintainers of hprof-rs
Section: java
Priority: optional
Description: $summary
 A JVMTI agent for HotSpot 8 to 26, and the command hprof, which makes and
 analyses heap dumps.
CONTROL
# Debian's zsh looks here.
mkdir "$share/zsh/vendor-completions"
mv "$share/zsh/site-functions/_hprof" "$share/zsh/vendor-completions"
rmdir "$share/zsh/site-functions"
dpkg-deb --root-owner-group --build -Zxz "$root" "$dist/hprof-rs_${version}_$deb.deb" >/dev/null
rm -rf "$root"
