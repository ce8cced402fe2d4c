#!/usr/bin/env bash
# Two builds of Sheaf in turn, on the same machine and in one run: the best time of each and their ratio.
#   bench/versions.sh OLD NEW FOLDER [ROUNDS]      build folders, and one with a9a.svm and w8a.svm (LIBSVM's datasets)
# CPU work runs on two cores. The SVM on the GPU is trained three times, the first of which opens cuBLAS.
# A line is left out where one of the builds does not have the program or the device.
set -uo pipefail
old=$1 new=$2 data=$3 rounds=${4:-3}
cores=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
pair="$cores,$((cores + 1))"

# The last number that the pattern holds; nothing: it was not printed.
time_of() { # pattern, command
  local pattern=$1
  shift
  timeout 60 "$@" 2>/dev/null | sed -nE "s/$pattern/\1/p" | tail -1
}

compare() { # title, unit, where, pattern, program and arguments
  local title=$1 unit=$2 where=$3 pattern=$4
  shift 4
  local limit=()
  [[ $where == cpu ]] && limit=(taskset -c "$pair")
  local best_old= best_new= time round
  for ((round = 0; round < rounds; ++round)); do
    time=$(time_of "$pattern" "${limit[@]}" "$old/$1" "${@:2}")
    best_old=$(printf '%s\n%s\n' "$best_old" "$time" | grep . | sort -g | head -1)
    time=$(time_of "$pattern" "${limit[@]}" "$new/$1" "${@:2}")
    best_new=$(printf '%s\n%s\n' "$best_new" "$time" | grep . | sort -g | head -1)
  done
  [[ $best_old && $best_new ]] || return 0
  printf '%-44s %9s %-2s %9s %-2s %6.2f\n' "$title" "$best_old" "$unit" "$best_new" "$unit" \
    "$(awk "BEGIN { print $best_new / $best_old }")"
}

printf '%-44s %12s %12s %6s\n' "" "old" "new" "ratio"
newton='.*trust region.*50 models +([0-9.]+) s.*'
scores='^.*[^r] ([0-9.]+) ms(, processor.*)?$'
net='.*auto: ([0-9.]+) s.*'
selection='^[0-9]: .* ([0-9.]+) s \(.*set-up.*'
svm='.*Sheaf +([0-9.]+) s.*'
compare "Newton, 50 models, text, double" s cpu "$newton" bench_newton search --threads 2
compare "elastic nets, 180 models" s cpu "$net" bench_elastic_net grid --threads 2 --alphas 30 --no-peer
compare "selection, JMI, genes" s cpu "$selection" bench_selection --threads 2 --shape 1
compare "SVM, w8a" s cpu "$svm" bench_svm fit "$data/w8a.svm" --cost 1 --gamma 0.0625 --threads 2 --no-peer
compare "scores, 1,000,000 rows x 50 models" ms cpu "$scores" bench_scores --rows 1000000 --threads 2
compare "GPU: Newton, 50 models, text, float" s gpu "$newton" bench_newton search --device cuda --precision float
compare "GPU: elastic nets, 576 models" s gpu "$net" bench_elastic_net grid --device cuda --precision float --alphas 96 --no-peer
compare "GPU: selection, JMI, text" s gpu "$selection" bench_selection --device cuda --shape 3
compare "GPU: SVM, a9a" s gpu "$svm" bench_svm fit "$data/a9a.svm" --cost 1 --gamma 0.0625 --device cuda --no-peer --repeats 3
compare "GPU: scores, 10,000,000 rows x 50 models" ms gpu "$scores" bench_scores --rows 10000000 --device cuda
