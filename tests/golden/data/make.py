#!/usr/bin/env python3
"""Writes the generated tables of this folder: python3 make.py (numpy 1.24; the same bytes each time)."""
import numpy as np


def write(name, x, y):
    with open(name, "w") as file:
        for row, target in zip(x, y):
            cells = " ".join(f"{j}:{value:.4f}" for j, value in enumerate(row, 1) if value != 0)
            file.write(f"{target} {cells}\n")


def target_of(rng, x, informative):
    w = np.zeros(x.shape[1])
    w[rng.choice(x.shape[1], informative, replace=False)] = rng.normal(size=informative) * 2
    return x @ w + rng.normal(size=len(x))


# Many more features than rows, neighbouring features correlated (0.8).
rng = np.random.RandomState(1)
x = rng.normal(size=(50, 200))
for j in range(1, 200):
    x[:, j] = 0.8 * x[:, j - 1] + 0.6 * x[:, j]
y = target_of(rng, x, 10)
write("wide.libsvm", x, [f"{v:.4f}" for v in y + 5])
write("wide_classes.libsvm", x, ["+1" if v > np.median(y) else "-1" for v in y])

# Sparse, as documents are: one value in ten is not zero, and none is below zero.
rng = np.random.RandomState(2)
x = rng.exponential(size=(80, 300)) * (rng.uniform(size=(80, 300)) < 0.1)
y = target_of(rng, x, 20)
write("sparse_classes.libsvm", x, ["+1" if v > np.median(y) else "-1" for v in y])
