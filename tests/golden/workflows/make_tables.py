#!/usr/bin/env python3
"""Writes the tables of this folder from larger public ones: python3 make_tables.py HEART KOSTIC LEUKEMIA

HEART: Statlog (Heart), unscaled, as LIBSVM text; KOSTIC: OTU counts of Kostic and others 2012 as LIBSVM text; LEUKEMIA: ARFF of
Golub and others 1999. The same bytes each time.
"""
import sys

import numpy as np
from sklearn.datasets import load_svmlight_file

heart, kostic, leukemia = sys.argv[1:]

# A clinical table with words in place of codes, missing values and the clinic of each patient.
x, y = load_svmlight_file(heart)
x = x.toarray()
pain = {1: "typical", 2: "atypical", 3: "no angina", 4: "silent"}
thal = {3: "normal", 6: "fixed defect", 7: "reversible defect"}
with open("clinical.csv", "w") as file:
    file.write("patient,visit,clinic,age,sex,pain,pressure,cholesterol,sugar,ecg,rate,exercise_angina,oldpeak,slope,vessels,thal,disease\n")
    for i, (r, label) in enumerate(zip(x, y)):
        cells = [f"P{i + 1:03d}", f"1988-{1 + i % 12:02d}-{1 + i % 28:02d}", f"clinic {i % 18 + 1}", f"{r[0]:g}",
                 "male" if r[1] else "female", pain[int(r[2])], f"{r[3]:g}", f"{r[4]:g}", f"{r[5]:g}", f"{r[6]:g}",
                 f"{r[7]:g}", "yes" if r[8] else "no", f"{r[9]:g}", f"{r[10]:g}", f"{r[11]:g}", thal[int(r[12])],
                 "sick" if label > 0 else "healthy"]
        for column, every in ((3, 17), (7, 11), (15, 23), (5, 29)):
            if i % every == every // 2:
                cells[column] = ""
        file.write(",".join(cells) + "\n")

# Counts of the forty most frequent taxa, with the subject of each sample: pairs of samples in the order of the file.
x, y = load_svmlight_file(kostic)
x = x.toarray()
often = np.sort(np.argsort(-(x > 0).sum(axis=0), kind="stable")[:40])
with open("microbes.csv", "w") as file:
    file.write("sample,subject," + ",".join(f"taxon{j + 1}" for j in often) + ",tissue\n")
    for i, (r, label) in enumerate(zip(x, y)):
        cells = [f"{v:g}" for v in r[often]]
        if i % 13 == 5:
            cells[i % 40] = "NA"
        file.write(f"S{i + 1},subject{i // 2 + 1}," + ",".join(cells) + f",{'tumour' if label > 0 else 'normal'}\n")

# Sixty genes, every fiftieth.
with open(leukemia) as file:
    lines = [line.rstrip("\n") for line in file if line.strip() and not line.startswith("%")]
data = lines.index(next(line for line in lines if line.lower().startswith("@data")))
attributes = [line for line in lines[:data] if line.lower().startswith("@attribute")]
kept = list(range(0, len(attributes) - 1, 50))[:60]
with open("genes.arff", "w") as file:
    file.write("@relation leukemia\n" + "".join(attributes[j] + "\n" for j in kept) + attributes[-1] + "\n@data\n")
    for line in lines[data + 1:]:
        cells = line.split(",")
        file.write(",".join([cells[j] for j in kept] + [cells[-1]]) + "\n")
