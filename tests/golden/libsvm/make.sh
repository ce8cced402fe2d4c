#!/usr/bin/env bash
# Runs LIBSVM's programs (Debian: libsvm-tools) and keeps what they write. For every line NAME DATA FLAGS of cases.txt:
#   NAME/log          what svm-train prints: objectives and numbers of support vectors
#   NAME/model        the model file
#   NAME/predictions  of svm-predict (with -b 1 where the flags have it) for the rows it was trained on
#   NAME/validation   what svm-train -v 5 prints last
# and for every line NAME DATA FLAGS of scale/cases.txt what svm-scale prints and saves: scale/NAME.{scaled,range}.
set -euo pipefail
cd "$(dirname "$0")"

while read -r name data flags; do
  [[ -z $name || $name == \#* ]] && continue
  mkdir -p "$name"
  table=../data/$data.libsvm
  probability=()
  [[ $flags == *"-b 1"* ]] && probability=(-b 1)
  # shellcheck disable=SC2086  # flags are several words
  svm-train $flags "$table" "$name/model" >"$name/log"
  svm-predict "${probability[@]}" "$table" "$name/model" "$name/predictions" >/dev/null
  # shellcheck disable=SC2086
  svm-train -q -v 5 $flags "$table" | tail -1 >"$name/validation"
done <cases.txt

while read -r name data flags; do
  [[ -z $name || $name == \#* ]] && continue
  table=scale/$data.libsvm
  [[ -e $table ]] || table=../data/$data.libsvm
  # shellcheck disable=SC2086
  svm-scale $flags -s "scale/$name.range" "$table" >"scale/$name.scaled" 2>/dev/null
done <scale/cases.txt
