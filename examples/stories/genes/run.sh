#!/usr/bin/env bash
# Which genes tell tumours from normal tissue, and how sure can one be with 80 samples?
#
# genes.csv.gz holds 3,000 correlated genes of 80 samples. With far more genes than samples, some gene separates any two groups by chance, so the
# question is not whether a model fits but how it does on samples that it has not seen.
set -euo pipefail
cd "$(dirname "$0")"

# One gene, the best: looks convincing in every dataset of this shape.
sheaf select genes.csv.gz --count 5

# An elastic net chooses genes while it is trained. Its alpha and l1-ratio are chosen by five folds, and five outer folds score that choice. Report
# the nested score; the score of the chosen point is the best of many, and so too good.
sheaf search genes.csv.gz --model elastic-net-logistic --score auc --outer 5 --output nets --force --seed 3

# Is the nested AUC better than luck? The same procedure on shuffled labels must come out near 0.5.
gzip -dc genes.csv.gz | awk -F, 'NR == 1 { print; next } { rows[++n] = $0; labels[n] = $NF }
  END { for (i = 1; i <= n; ++i) { $0 = rows[i]; sub(/[^,]*$/, labels[1 + (i * 37) % n]); print } }' > shuffled.csv
sheaf search shuffled.csv --model elastic-net-logistic --score auc --outer 5 --output luck --force --seed 3 > luck.txt
grep -A3 -i nested luck.txt

# The model goes to new samples as one file: sheaf predict new.csv --model-file nets/model.txt
sheaf predict genes.csv.gz --model-file nets/model.txt --output predictions.csv --quiet
head -4 predictions.csv
