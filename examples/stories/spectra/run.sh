#!/usr/bin/env bash
# Which of the peptides that a search engine reports are really in the sample?
#
# run.pin.gz holds matches of 10,000 spectra with peptides, 18 features each. Half the database were decoys, peptides that cannot be there, so the
# decoys among the best matches show how many of the others are wrong.
set -euo pipefail
cd "$(dirname "$0")"

# Percolator's method: linear SVMs learn what tells good targets from decoys, each on two thirds of the spectra, and score the last third.
sheaf rescore run.pin.gz --output rescored --force --seed 7

# Targets first, the most certain at the top. The q-value of a row is the share of wrong matches among all rows down to it.
head -4 rescored/psms.tsv

# Scripts written for Percolator run as they are, with its flags and files.
sheaf percolator --num-threads 2 --results-psms psms.tsv --weights weights.txt run.pin.gz > decoys.txt 2> percolator.log
wc -l < psms.tsv
