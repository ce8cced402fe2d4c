#!/usr/bin/env bash
# Which microbes differ between sick and healthy people, and how well do they predict who is sick?
#
# microbes.biom holds counts of 3,000 kinds of bacteria in 200 samples, as QIIME 2 writes them; most counts are 0. The data are generated, so the truth
# is known: 30 kinds were planted, and planted.csv names them. Your own table goes in its place, with --metadata FILE --label COLUMN.
set -euo pipefail
cd "$(dirname "$0")"

# A look at the data first. The report is one page to open in a browser.
sheaf info microbes.biom --report data.html

# The tempting way: select 30 kinds on all samples, then cross-validate a model on these 30. The samples that test a model have already helped to
# select its features, so the AUC is too good to be true.
sheaf select microbes.biom --bins 5 --count 30 --apply seen.csv > selected.txt
sheaf search seen.csv --model linear --score auc --output seen --force --seed 7

# The honest way: selection is a step of the model, learnt again in each fold. --outer 5 scores the whole procedure, the choice of the cost too,
# on samples that no step of it has seen. This AUC is what new samples will give.
sheaf search microbes.biom --model linear --select jmi:30 --bins 5 --score auc --outer 5 --output honest --force --seed 7

# Sequencing depth differs between samples, so a count alone says little. Shares of each sample, their logarithm, and elastic nets on samples held out
# again and again: which kinds are chosen every time? Those are the ones to trust.
sheaf select microbes.biom --model elastic-net-logistic --transform share,log1p --standardise --splits 10 --seed 7 \
  --csv stable.csv --report stable.html > study.txt
head -30 study.txt

# With the truth at hand: how many of the kinds at the top of the list were planted?
cut -d, -f2 planted.csv | tail -n +2 | sort > truth.txt
echo "planted among the first ten: $(head -11 stable.csv | grep -cwFf truth.txt)"
