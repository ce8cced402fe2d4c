#!/usr/bin/env bash
# Handwritten digits from R, on a GPU if there is one.
#
# The R package has 1,797 small pictures of digits inside. With the MNIST database (70,000 pictures of 28 x 28 pixels) in a folder:
# SHEAF_MNIST=FOLDER digits/run.sh
set -euo pipefail
cd "$(dirname "$0")"

# run.R trains a kernel SVM for each pair of digits, all of them together, predicts the pictures that it kept back, and draws pictures.pdf: predictions,
# mistakes, and what a linear model looks at. Read it; it is short.
Rscript --vanilla run.R
