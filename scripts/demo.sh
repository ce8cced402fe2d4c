#!/usr/bin/env bash
# The demonstration: makes a seeded table of microbe counts with planted species, tells what it holds, searches for the best
# linear model, and counts how many of the planted species stand among its largest weights.
#   scripts/demo.sh PROGRAM
set -euo pipefail
cd "$(dirname "$0")/.."
sheaf=${1:-build/sheaf}
mkdir -p demo

echo "== $sheaf generate microbes demo/microbes.arff.gz --truth demo/planted.csv --seed 7"
"$sheaf" generate microbes demo/microbes.arff.gz --truth demo/planted.csv --seed 7
echo
echo "== $sheaf info demo/microbes.arff.gz --report demo/report.html"
"$sheaf" info demo/microbes.arff.gz --report demo/report.html
echo
search=(search demo/microbes.arff.gz --output demo/search --score auc --cost 1e-6:1:7 --seed 7 --force)
echo "== $sheaf ${search[*]}"
"$sheaf" "${search[@]}"

# Planted species among the features with the 50 largest weights.
planted=$(tail -n +2 demo/planted.csv | grep -o 'Otu[0-9]*' | sort)
found=$(sed -n '/"largest_weights"/,$p' demo/search/results.json | grep -o 'Otu[0-9]*' | head -50 | sort | comm -12 - <(echo "$planted") | wc -l)
echo
echo "$found of the $(wc -l <<<"$planted") planted species are among the 50 largest weights."

cat <<TEXT

The table:    demo/report.html           (open it in a browser; it needs nothing else)
The search:   demo/search/report.html    (score curve, ROC, largest weights)
The truth:    demo/planted.csv           (which species were planted, and how strongly)

What to try next
  $sheaf info YOUR_TABLE.csv --report yours.html
  $sheaf search YOUR_TABLE.csv
  $sheaf search demo/microbes.arff.gz --transform log1p --scale maxabs --model elastic-net --output demo/net
  $sheaf --help
TEXT
