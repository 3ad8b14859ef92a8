#!/usr/bin/env bash
# Installs the Debian packages that the given lists name, one a line, unless they are there already. A line with a second word names a
# command that stands for the package: where there is such a command, whoever brought it, nothing is installed.
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
