#!/usr/bin/env bash
# clang-tidy over the library and the command line (tests and benchmarks are held to compiler warnings only: macros of the
# test framework set off too much). A file found clean is not looked at again until it, a header of ours or the settings
# change; the marks are kept in BUILD/tidy.
#   scripts/tidy.sh BUILD               all files
#   scripts/tidy.sh BUILD --changed     those that the change at hand touches, directly or through a header: what differs
#                                       from the main branch, on that branch from the commit before. All where that can't
#                                       be told. About 9 s a file make this the right choice for continuous integration.
#   scripts/tidy.sh BUILD FILE...       these
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?the build directory with compile_commands.json}
shift
[[ -e $build/compile_commands.json ]] || { echo "tidy: $build holds no compile_commands.json; build first" >&2; exit 1; }
marks=$build/tidy
mkdir -p "$marks"

all_files() { find src cli -name '*.cpp' | sort; }

base_commit() {
  local branch base
  for branch in origin/main origin/master main master; do
    base=$(git merge-base HEAD "$branch" 2>/dev/null) || continue
    [[ $base != $(git rev-parse HEAD) ]] && { echo "$base"; return; }
  done
  git rev-parse --verify --quiet HEAD~1 2>/dev/null
}

# Sources whose objects depend on one of the changed files, as the build recorded it.
changed_files() {
  local base changed
  base=$(base_commit) || { all_files; return; }
  changed=$({ git diff --name-only "$base"; git ls-files --others --exclude-standard; } | sort -u)
  if grep -qx .clang-tidy <<<"$changed" || ! ninja -C "$build" -t deps >"$marks/deps" 2>/dev/null; then
    all_files
    return
  fi
  awk -v root="$PWD/" -v changed="$changed" '
    BEGIN { split(changed, list, "\n"); for (i in list) wanted[root list[i]] = 1 }
    /^[^ ]/ { source = "" }
    /^ / {
      if (source == "") source = $1
      if ($1 in wanted) touched[source] = 1
    }
    END { for (s in touched) if (index(s, root) == 1) print substr(s, length(root) + 1) }' "$marks/deps" |
    grep -E '^(src|cli)/.*\.cpp$' | sort -u
}

case ${1:-} in
  '') mapfile -t files < <(all_files) ;;
  --changed) mapfile -t files < <(changed_files) ;;
  *) files=("$@") ;;
esac
((${#files[@]} > 0)) || { echo "tidy: no file is touched"; exit 0; }

# What every result depends on: the settings and all our headers.
shared=$({ echo .clang-tidy; find include src cli -name '*.hpp' | sort; } | xargs cat | sha256sum | cut -c1-16)

tidy_one() {
  local file=$1 name mark
  [[ -e $file ]] || return 0
  name=$marks/${file//\//_}
  mark=$name.$(sha256sum <"$file" | cut -c1-16).$shared
  [[ -e $mark ]] && return 0
  if clang-tidy --quiet -p "$build" "$file" >"$name.log" 2>/dev/null; then
    rm -f "$name".*
    : >"$mark"
  else
    cat "$name.log"
    return 1
  fi
}
export -f tidy_one
export build marks shared
start=$SECONDS
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -I{} bash -c 'tidy_one {}' || { echo "tidy: see above" >&2; exit 1; }
echo "tidy: ${#files[@]} files are clean ($((SECONDS - start)) s)"
