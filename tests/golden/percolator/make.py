#!/usr/bin/env python3
"""Makes the files of this folder from Percolator's yeast example and its results there.

  make.py percolatorTab.pin.xz RESULTS

RESULTS holds, for seeds 1 to 3, what Percolator 3.08 (mix-max) gives: exact_seedN_folds.txt.xz (the fold of each PSM)
and exact_seedN_rows.tsv.xz (score, q-value and PEP of each PSM), both in the order of the PIN file, and
exact_seedN.json with pi0.
"""
import json
import lzma
import sys

pin, results = sys.argv[1:]
rows = [line.split("\t") for line in lzma.open(pin, "rt")]
rows = [row for row in rows[1:] if row[0].lower() != "defaultdirection"]

with open("scans.txt", "w") as out:  # scan numbers in the order of the file, with how many PSMs follow each other
    k = 0
    while k < len(rows):
        end = k
        while end < len(rows) and rows[end][2] == rows[k][2]:
            end += 1
        out.write(f"{rows[k][2]} {end - k}\n")
        k = end

for seed in (1, 2, 3):
    base = f"{results}/exact_seed{seed}"
    folds = lzma.open(f"{base}_folds.txt.xz", "rt").read().split()
    values = [line.split() for line in lzma.open(f"{base}_rows.tsv.xz", "rt").read().splitlines()[1:]]
    order = sorted(range(len(rows)), key=lambda i: -float(values[i][0]))
    with open(f"seed{seed}.txt", "w") as out:
        out.write("".join(folds) + "\n")
        # Targets and decoys from the best to the worst; = stands between equal scores.
        text = ""
        for k, i in enumerate(order):
            if k > 0 and float(values[i][0]) == float(values[order[k - 1]][0]):
                text += "="
            text += "T" if rows[i][1] == "1" else "D"
        out.write(text + "\n")
        out.write(f"{json.load(open(base + '.json'))['pi0_psm']!r}\n")
        for k in range(0, len(order), 40):  # rank, q-value, PEP
            out.write(f"{k} {values[order[k]][1]} {values[order[k]][2]}\n")
