#!/usr/bin/env bash
# The demonstration: makes a seeded table of microbe counts with planted species, and tells what it holds.
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

cat <<TEXT

The report:   demo/report.html    (open it in a browser; it needs nothing else)
The truth:    demo/planted.csv    (which species were planted, and how strongly)

What to try next
  $sheaf info YOUR_TABLE.csv --report yours.html
  $sheaf scale demo/microbes.arff.gz demo/scaled.arff.gz --method maxabs --save demo/ranges.txt
  $sheaf convert demo/scaled.arff.gz demo/scaled.csv
  $sheaf --help
TEXT
