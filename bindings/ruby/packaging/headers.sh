#!/bin/sh
# Downloads the headers of another version of Ruby than the installed one, for which the extension is then compiled, too:
# `headers.sh FOLDER` writes FOLDER/VERSION. Debian's later release has them, on the mirror that this system uses.
set -eu

version=3.3
release=trixie
package=ruby3.3-dev_3.3.8-2_amd64.deb
checksum=c266bd2ba0169a1831d8987ae5ff901d22b96b6b7a4f05a5db472e8584a70e73

skip() {
  echo "SKIPPED: the extension for Ruby $version: $1"
  exit 0
}

mkdir -p "$1"
folder=$(cd "$1" && pwd)
[ -d "$folder/$version" ] && exit 0
command -v apt-get >/dev/null || skip "its headers are a package of Debian"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | head -n 1)
[ -n "$mirror" ] || skip "this system is not Debian"
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $release main" >"$work/sources.list"
apt() {
  apt-get -qq -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State="$work" \
    -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root "$@" 2>"$work/errors"
}
cd "$work"
apt update && apt download "${package%%_*}" || skip "$(tail -n 1 errors)"
[ -f "$package" ] || skip "the mirror has another version of its package: $(ls -- *.deb)"
echo "$checksum  $package" | sha256sum --check --quiet || exit 1

dpkg-deb --extract "$package" extracted
mkdir "$version"
mv extracted/usr/include/ruby-* "$version/ruby"
mv extracted/usr/include/*/ruby-* "$version/machine"
mv "$version" "$folder"
