"""Nearest neighbours of rows among themselves by scikit-learn's brute force, its k-d tree if there are few features,
and FAISS's IndexFlatL2.

Arguments: table (LIBSVM format), rows, metric, threads, dense or sparse, values of k (comma-separated), rounds.
Prints one line for each peer and k: name, k, seconds by the clock and of the processors, each the best of all rounds.
A peer that is not installed is left out.
"""
import sys
import time

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.neighbors import NearestNeighbors

table, rows, metric, threads, storage, ks, rounds = sys.argv[1:8]
x, _ = load_svmlight_file(table, dtype=np.float32)
if int(rows) > 0:
    x = x[: int(rows)]
if storage == "dense":
    x = np.ascontiguousarray(x.toarray())


def best_of(work):
    clock, processors = [], []
    for _ in range(int(rounds)):
        begin, used = time.perf_counter(), time.process_time()
        work()
        clock.append(time.perf_counter() - begin)
        processors.append(time.process_time() - used)
    return f"{min(clock)} {min(processors)}"


def search(algorithm, k):
    model = NearestNeighbors(n_neighbors=k, algorithm=algorithm, metric=metric, n_jobs=int(threads))
    return best_of(lambda: model.fit(x).kneighbors())


few_features = storage == "dense" and x.shape[1] <= 15
for k in (int(k) for k in ks.split(",")):
    if few_features:
        print("sklearn-tree", k, search("kd_tree", k), flush=True)
    if not few_features or x.shape[0] <= 50000:
        print("scikit-learn", k, search("brute", k), flush=True)

if few_features:
    sys.exit(0)
if storage == "dense" and metric == "euclidean":
    try:
        import faiss
    except ImportError:
        sys.exit(0)
    faiss.omp_set_num_threads(int(threads))
    index = faiss.IndexFlatL2(x.shape[1])
    index.add(x)
    for k in (int(k) for k in ks.split(",")):
        print("FAISS", k, best_of(lambda: index.search(x, k + 1)), flush=True)
