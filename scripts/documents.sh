#!/usr/bin/env bash
# Checks the documents: every source file and path that they name is there, and every link to a file leads to one.
set -uo pipefail
cd "$(dirname "$0")/.."
mapfile -t pages < <(git ls-files --cached --others --exclude-standard '*.md')
sources=$(git ls-files --cached --others --exclude-standard | xargs -n1 basename | sort -u)
failed=0

complain() {
  echo "$1" >&2
  failed=1
}

# Paths such as src/linear/net/ops.hpp, cli/commands/ or tests/*_test.cpp.
for page in "${pages[@]}"; do
  while IFS=: read -r line path; do
    path=${path%%[.,]}
    compgen -G "$path" >/dev/null || complain "$page:$line: names $path, which does not exist"
  done < <(grep -noE '(^|[^A-Za-z0-9_./-])(src|cli|include|tests|bench|scripts|docs|examples|cmake)/[A-Za-z0-9_./*-]*' "$page" |
    sed -E 's/^([0-9]+):[^a-z]?/\1:/' | grep -vE '/NAME')
  # Files named without their folder, in backticks.
  while IFS=: read -r line name; do
    grep -qxF "$name" <<<"$sources" || complain "$page:$line: names $name, which does not exist"
  done < <(grep -noE '`[a-z0-9_]+\.(hpp|cpp|cu|cuh|sh)`' "$page" | tr -d '`')
  while IFS=: read -r line target; do
    target=${target%%#*}
    [[ -z $target || -e $(dirname "$page")/$target ]] || complain "$page:$line: links to $target, which does not exist"
  done < <(grep -noE '\]\([^)#:]+(#[^)]*)?\)' "$page" | sed -E 's/^([0-9]+):\]\(([^)]*)\)/\1:\2/')
done
((failed == 0)) && echo "documents: ${#pages[@]} pages name only what exists"
exit $failed
