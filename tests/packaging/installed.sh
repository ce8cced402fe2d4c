#!/usr/bin/env bash
# Makes the packages of a build folder, but for R's, installs each into an empty folder and uses it there. Exit code 77: what makes packages is missing.
#   tests/packaging/installed.sh BUILD
set -euo pipefail
cd "$(dirname "$0")/../.."
for program in cpack dpkg-shlibdeps dpkg-architecture patchelf readelf; do
  command -v "$program" >/dev/null || { echo "$program is missing (scripts/setup.sh packages)"; exit 77; }
done
packaging/make.sh "$1" debian python
packaging/check.sh "$1"
