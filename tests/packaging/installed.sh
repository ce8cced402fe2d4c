#!/usr/bin/env bash
# Makes the packages of what BUILD has, installs each into an empty folder and uses it there. Exit code 77, as tests are skipped: a program that
# makes packages is missing.
#   tests/packaging/installed.sh BUILD
set -euo pipefail
cd "$(dirname "$0")/../.."
for program in dpkg-shlibdeps patchelf pkg-config; do
  command -v "$program" >/dev/null && continue
  printf 'packaging: Skipped\n%s is missing (scripts/setup.sh packages)\n' "$program"
  exit 77
done
packaging/make.sh "$1"
packaging/check.sh "$1"
