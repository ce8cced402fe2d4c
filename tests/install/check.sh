#!/usr/bin/env bash
# Installs a finished build into a scratch folder, as a user would, and uses what is there: a project outside the tree by
# find_package, a compiler by pkg-config, the manual page, the completions.
#   tests/install/check.sh BUILD SOURCE COMPILER
set -euo pipefail
build=$1 source=$2 compiler=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
need() { [[ -e $prefix/$1 ]] || fail "$1 was not installed"; }

cmake --install "$build" --prefix "$prefix" >/dev/null
libdir=$(dirname "$(cd "$prefix" && find lib* -name pkgconfig)")
for file in bin/sheaf include/sheaf/sheaf.hpp include/sheaf/version.hpp "$libdir/cmake/sheaf/sheafConfig.cmake" \
  share/man/man1/sheaf.1 share/bash-completion/completions/sheaf share/zsh/site-functions/_sheaf \
  share/fish/vendor_completions.d/sheaf.fish; do need "$file"; done

echo "== the program"
version=$("$prefix/bin/sheaf" --version)
[[ $version =~ ^sheaf\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "sheaf --version says '$version'"

echo "== no library of CUDA is needed to start"
for file in "$prefix/bin/sheaf" "$prefix/$libdir"/libsheaf.so; do
  [[ -e $file ]] || continue
  linked=$(readelf -d "$file" | grep -E 'NEEDED.*lib(cuda|cudart|cublas|nvrtc)' || true)
  [[ -z $linked ]] || fail "$file is linked with CUDA: $linked"
done

echo "== tables of functions cannot be written, no stack is executed"
if ! grep -qE '^(SHEAF_SANITIZE:STRING=.|CMAKE_BUILD_TYPE:STRING=Debug)' "$build/CMakeCache.txt"; then
  for file in "$prefix/bin/sheaf" "$prefix/$libdir"/libsheaf.so; do
    [[ -e $file ]] || continue
    readelf -dW "$file" | grep -q 'BIND_NOW\|FLAGS.*NOW' || fail "$file binds functions when they are called"
    headers=$(readelf -lW "$file")
    [[ $headers == *GNU_RELRO* ]] || fail "$file has no relocations that become read-only"
    grep -q 'GNU_STACK.* RW ' <<<"$headers" || fail "$file has a stack that is executed"
  done
fi

echo "== a project by find_package"
cmake -S "$source/examples/cpp" -B "$scratch/example" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" >/dev/null
cmake --build "$scratch/example" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; fail "examples/cpp was not built"; }
for program in "$scratch"/example/*; do
  [[ -f $program && -x $program ]] || continue
  arguments=()
  case $(basename "$program") in
    fit) arguments=("$source/examples/cpp/flowers.csv" "$source/examples/cpp/flowers.csv") ;;
    search) arguments=("$source/examples/cpp/flowers.csv") ;;
  esac
  (cd "$scratch" && "$program" "${arguments[@]}") >"$scratch/out" || fail "$(basename "$program") ended with an error"
  [[ -s $scratch/out ]] || fail "$(basename "$program") printed nothing"
done

echo "== a program by pkg-config"
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig LD_LIBRARY_PATH=$prefix/$libdir
cat >"$scratch/version.cpp" <<'CPP'
#include <sheaf/version.hpp>
#include <cstdio>
int main() { std::puts(sheaf::version()); }
CPP
read -ra flags <<<"$(pkg-config --cflags --libs sheaf)"
"$compiler" -std=c++20 "$scratch/version.cpp" "${flags[@]}" -o "$scratch/version"
[[ sheaf\ $("$scratch/version") == "$version" ]] || fail "the library and the program are of different versions"
[[ sheaf\ $(pkg-config --modversion sheaf) == "$version" ]] || fail "pkg-config names another version"

shared=$prefix/$libdir/libsheaf.so
if [[ -e $shared ]]; then
  echo "== the names of the shared library"
  names=$(nm -DC --defined-only "$shared" | grep -v ' A SHEAF_')
  grep -q ' sheaf::version()@@SHEAF_' <<<"$names" || fail "sheaf::version() has no symbol version"
  # A template of ours names the types that it takes and returns.
  inside=$(grep -E ' (sheaf::(linear|kernel|information|engine|score|report|cuda|cpu|test)::)' <<<"$names" || true)
  inside+=$(grep -v 'sheaf::' <<<"$names" | grep -E ' (std|fmt|nlohmann)::' || true)
  [[ -z $inside ]] || fail "names of the inside are exported: $(head -3 <<<"$inside")"
fi

echo "== the manual page"
if command -v groff >/dev/null; then
  warnings=$(groff -man -Tutf8 -ww -z "$prefix/share/man/man1/sheaf.1" 2>&1) || true
  [[ -z $warnings ]] || fail "groff says of the manual page: $(head -3 <<<"$warnings")"
fi
while read -r command; do
  grep -qF ".SS \"sheaf $command\"" "$prefix/share/man/man1/sheaf.1" || fail "the manual page lacks $command"
done < <("$prefix/bin/sheaf" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p')

echo "== completions"
complete_as() (  # the words of a line, the last of them to complete
  source "$prefix/share/bash-completion/completions/sheaf"
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
  _sheaf
  echo "${COMPREPLY[*]}"
)
[[ $(complete_as sheaf con) == convert ]] || fail "bash does not complete 'sheaf con'"
[[ " $(complete_as sheaf convert --) " == *" --threads "* ]] || fail "bash does not know the options of convert"
[[ $(complete_as sheaf convert --storage sp) == sparse ]] || fail "bash does not know the values of --storage"
if command -v zsh >/dev/null; then zsh -n "$prefix/share/zsh/site-functions/_sheaf" || fail "zsh does not read its completions"; fi
if command -v fish >/dev/null; then
  [[ $(fish --no-config -c "source $prefix/share/fish/vendor_completions.d/sheaf.fish; complete -C 'sheaf convert --storage sp'" | cut -f1) == sparse ]] ||
    fail "fish does not know the values of --storage"
fi
echo "All is there and works."
