#!/usr/bin/env bash
# Rewrites docs/commands.md from the program itself.
set -euo pipefail
cd "$(dirname "$0")/.."
"${1:-build/sheaf}" --manual >docs/commands.md
