#!/usr/bin/env bash
# Names the files that differ from the main branch, or on that branch from the commit before, one a line; new files that
# git does not know yet too. SHEAF_CHANGED_SINCE, where set, is the commit to compare with. Ends with 1 where there is
# nothing to compare with.
set -euo pipefail
cd "$(dirname "$0")/.."

base_commit() {
  local branch base
  [[ -n ${SHEAF_CHANGED_SINCE:-} ]] && { git rev-parse --verify --quiet "$SHEAF_CHANGED_SINCE"; return; }
  for branch in origin/main origin/master main master; do
    base=$(git merge-base HEAD "$branch" 2>/dev/null) || continue
    [[ $base != $(git rev-parse HEAD) ]] && { echo "$base"; return; }
  done
  git rev-parse --verify --quiet HEAD~1
}

base=$(base_commit)
{ git diff --name-only "$base"; git ls-files --others --exclude-standard; } | sort -u
