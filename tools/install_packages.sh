#!/usr/bin/env bash
# Installs the Debian packages of the given list files that are not installed yet. A list has one package per line, optionally
# followed by a command that the package provides: if that command exists, wherever it comes from, the package is not installed.
#
# Usage: install_packages.sh LIST...
set -euo pipefail

missing=()
while read -r package command; do
  if [ -n "$command" ]; then
    command -v "$command" >/dev/null || missing+=("$package")
  else
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  fi
done < <(cat "$@" | sed 's/#.*//' | grep -v '^\s*$' | sort -u)

if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi
echo "Installing Debian packages: ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
