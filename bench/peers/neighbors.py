"""Nearest neighbours of rows among themselves by scikit-learn's brute force and by FAISS's IndexFlatL2.

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


for k in (int(k) for k in ks.split(",")):
    model = NearestNeighbors(n_neighbors=k, algorithm="brute", metric=metric, n_jobs=int(threads)).fit(x)
    print("scikit-learn", k, best_of(lambda: model.kneighbors()), flush=True)

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
