#!/usr/bin/env bash
# clang-tidy over the library and the command line (tests and benchmarks are held to compiler warnings only: macros of the
# test framework set off too much). A file found clean is not looked at again until it, a header of ours or the settings
# change; the marks are kept in BUILD/tidy.
#   scripts/tidy.sh BUILD [FILE...]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?the build directory with compile_commands.json}
shift
[[ -e $build/compile_commands.json ]] || { echo "tidy: $build holds no compile_commands.json; build first" >&2; exit 1; }
marks=$build/tidy
mkdir -p "$marks"

if (($# > 0)); then files=("$@"); else
  mapfile -t files < <(git ls-files --cached --others --exclude-standard -- 'src/*.cpp' 'cli/*.cpp')
fi

# What every result depends on: the settings and all our headers.
shared=$(cat .clang-tidy $(git ls-files --cached --others --exclude-standard -- '*.hpp' | sort) 2>/dev/null | sha256sum | cut -c1-16)

tidy_one() {
  local file=$1 mark
  [[ -e $file ]] || return 0
  mark=$marks/$(echo "$file" | tr / _).$(sha256sum <"$file" | cut -c1-16).$shared
  [[ -e $mark ]] && return 0
  if clang-tidy --quiet -p "$build" "$file" >"$mark.log" 2>/dev/null; then
    rm -f "$mark.log" "$marks/$(echo "$file" | tr / _)".*
    : >"$mark"
  else
    cat "$mark.log"
    rm -f "$mark.log"
    return 1
  fi
}
export -f tidy_one
export build marks shared
start=$SECONDS
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -I{} bash -c 'tidy_one {}' || { echo "tidy: see above" >&2; exit 1; }
echo "tidy: ${#files[@]} files are clean ($((SECONDS - start)) s)"
