#!/usr/bin/env bash
# clang-tidy over the library and the command line (tests and benchmarks are held to compiler warnings only: macros of the
# test framework set off too much). A file found clean is not looked at again until it, a header of ours or the settings
# change; the marks are kept in BUILD/tidy.
#   scripts/tidy.sh BUILD               all files
#   scripts/tidy.sh BUILD --changed     sources that differ from the main branch (scripts/changed.sh) and, for every header
#                                       that does, one source that includes it
#   scripts/tidy.sh BUILD FILE...       these
# SHEAF_TIDY_MINUTES, where set, is when no further file is begun; what was left out is listed. A file takes about 9 s.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?the build directory}
shift
[[ -e $build/CMakeCache.txt ]] || { echo "tidy: $build is no build directory; build first" >&2; exit 1; }
marks=$build/tidy
mkdir -p "$marks"
# How each source is compiled by itself, which `make` does not do, without what only GCC knows: a flag and a warning.
cmake -S . -B "$marks/separate" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=OFF -DSHEAF_PRECOMPILE=OFF -DSHEAF_CUDA=off \
  -DSHEAF_TESTS=OFF -DSHEAF_BENCH=OFF -DSHEAF_PYTHON=off -DSHEAF_R_PACKAGE=off >/dev/null
sed -E 's/ -fno-gnu-unique| -Wno-subobject-linkage//g' "$marks/separate/compile_commands.json" >"$marks/compile_commands.json"

all_files() { find src cli -name '*.cpp' | sort; }

# Changed sources first; then, for each changed header that none of them includes, one source that does, as the build
# recorded it.
changed_files() {
  local changed
  changed=$(scripts/changed.sh) || { all_files; return; }
  if grep -qx .clang-tidy <<<"$changed" || ! ninja -C "$build" -t deps >"$marks/deps" 2>/dev/null; then
    all_files
    return
  fi
  awk -v root="$PWD/" -v changed="$changed" '
    function name(path) { return index(path, root) == 1 ? substr(path, length(root) + 1) : path }
    BEGIN {
      count = split(changed, list, "\n")
      for (i = 1; i <= count; i++) {
        if (list[i] ~ /^(src|cli)\/.*\.cpp$/) chosen[list[i]] = 1
        if (list[i] ~ /\.hpp$/) header[list[i]] = 1
      }
    }
    /^[^ ]/ { source = "" }
    /^ / {
      file = name($1)
      if (source == "" || file ~ /\.cpp$/) source = file  # joined sources are named where they begin
      if (file in header && source ~ /^(src|cli)\/.*\.cpp$/) {
        if (source in chosen) seen[file] = 1
        else if (!(file in includer)) includer[file] = source
      }
    }
    END {
      for (file in includer) if (!(file in seen)) chosen[includer[file]] = 1
      for (file in chosen) print file
    }' "$marks/deps" | sort
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
  ((deadline == 0 || $(date +%s) < deadline)) || { echo "$file" >>"$marks/left"; return 0; }
  if clang-tidy --quiet -p "$marks" "$file" >"$name.log" 2>/dev/null; then
    rm -f "$name".*
    : >"$mark"
  else
    cat "$name.log"
    return 1
  fi
}
export -f tidy_one
deadline=$((${SHEAF_TIDY_MINUTES:-0} > 0 ? $(date +%s) + SHEAF_TIDY_MINUTES * 60 : 0))
export build marks shared deadline
rm -f "$marks/left"
start=$SECONDS
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -I{} bash -c 'tidy_one {}' || { echo "tidy: see above" >&2; exit 1; }
left=0
if [[ -e $marks/left ]]; then
  left=$(wc -l <"$marks/left")
  echo "tidy: no time was left for:"
  cat "$marks/left"
fi
echo "tidy: $((${#files[@]} - left)) files are clean ($((SECONDS - start)) s)"
