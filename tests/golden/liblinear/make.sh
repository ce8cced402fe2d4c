#!/usr/bin/env bash
# Runs LIBLINEAR's programs (Debian: liblinear-tools) and keeps what they write. For every line NAME DATA FLAGS of
# cases.txt:
#   NAME/model          the model file
#   NAME/predictions    of liblinear-predict for the rows it was trained on
#   NAME/probabilities  of liblinear-predict -b 1, for logistic models (-s 0, 6 and 7) of small datasets
set -euo pipefail
cd "$(dirname "$0")"

while read -r name data flags; do
  [[ -z $name || $name == \#* ]] && continue
  mkdir -p "$name"
  table=../data/$data.libsvm
  # shellcheck disable=SC2086  # flags are several words
  liblinear-train -q $flags "$table" "$name/model"
  liblinear-predict "$table" "$name/model" "$name/predictions" >/dev/null
  [[ $flags =~ -s\ [067]($|\ ) && $data != digits8x8 && $name != *_early ]] || continue
  liblinear-predict -b 1 -q "$table" "$name/model" "$name/probabilities"
done <cases.txt
