#!/usr/bin/env bash
# Why does the model say so? Because of these rows.
#
# rows.csv holds six measurements of three groups. Models of neighbours explain themselves by cases: a prediction is the vote of the nearest rows, and
# the rows can be shown to the person who asks.
set -euo pipefail
cd "$(dirname "$0")"

# The last three rows play the part of new ones.
head -301 rows.csv > train.csv
(head -1 rows.csv; tail -3 rows.csv) > new.csv

# How many neighbours, and how should they vote? All values of k are scored from one list of neighbours.
sheaf search train.csv --model knn --k 1:30 --vote uniform,inverse-distance --scale standard --output found --force --seed 5 > search.txt
grep -A2 '^Chosen' search.txt

# The prediction for each new row, and the rows of train.csv (counted from 1) that decided it, with their labels, distances and votes.
sheaf predict new.csv --model-file found/model.txt --output predictions.csv --explain why.csv > scores.txt
head -1 scores.txt
head -8 why.csv

# A local model goes further: it fits a hyperplane through the neighbours of each class, so that few rows do.
sheaf search train.csv --model hknn --k 5,10,20 --scale standard --output local --force --seed 5 > local.txt
grep -A2 '^Chosen' local.txt
