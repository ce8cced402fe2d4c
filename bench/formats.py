"""Reading files of the field beside the programs that people read them with, on the same files in one run:

    PYTHONPATH=build/python python3 bench/formats.py [--megabytes 200] [--threads 2] [--folder DIR]

AnnData with compressed rows (counts in float32 too) and columns and dense, plain, gzip and LZF, beside anndata (whose matrix is then brought to rows, as models need it); Matrix Market
beside scipy.io.mmread. Each reader runs in a process of its own: processor seconds (the machine may be busy), seconds, and the most memory it had over what it
had before, in units of the matrix that comes out (values of 8 bytes, indices of 4, offsets of 8).
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def make(folder, megabytes):
    import anndata
    import numpy as np
    import pandas as pd
    import scipy.io
    import scipy.sparse as sp

    generator = np.random.default_rng(1)
    columns, density = 20_000, 0.05
    rows = max(100, int(megabytes * 1e6 / (12 * columns * density)))
    per_row = generator.poisson(columns * density, rows)
    offsets = np.concatenate([[0], np.cumsum(per_row)])
    indices = np.concatenate([np.sort(generator.choice(columns, count, replace=False)) for count in per_row]).astype(np.int32)
    values = np.round(generator.gamma(2.0, 2.0, len(indices)), 3)
    x = sp.csr_matrix((values, indices, offsets), shape=(rows, columns))
    obs = pd.DataFrame({"label": generator.choice(["a", "b"], rows)}, index=[f"c{i}" for i in range(rows)])
    var = pd.DataFrame({"symbol": [f"S{j}" for j in range(columns)]}, index=[f"g{j}" for j in range(columns)])
    for name, matrix, compression in (("csr", x, None), ("csr-gzip", x, "gzip"), ("csr-lzf", x, "lzf"), ("csc", x.tocsc(), None), ("csc-gzip", x.tocsc(), "gzip")):
        anndata.AnnData(matrix, obs=obs, var=var, dtype=np.float64).write(folder / f"{name}.h5ad", compression=compression)
    counts = sp.csr_matrix((np.ceil(values).astype(np.float32), indices, offsets), shape=x.shape)
    anndata.AnnData(counts, obs=obs, var=var, dtype=np.float32).write(folder / "counts-gzip.h5ad", compression="gzip")
    some = x[: int(megabytes * 1e6 / (8 * columns))].toarray()
    for name, compression in (("dense", None), ("dense-gzip", "gzip")):
        anndata.AnnData(some, obs=obs[: len(some)], var=var, dtype=np.float64).write(folder / f"{name}.h5ad", compression=compression)
    scipy.io.mmwrite(folder / "cells.mtx", x[: max(50, rows // 10)])


def by_sheaf(path, threads):
    from sheaf import read_data

    x = read_data(path, label="none", n_threads=threads).data
    return x.nbytes if hasattr(x, "nbytes") else x.data.nbytes + x.indices.nbytes + x.indptr.nbytes


def by_peer(path, threads):
    import scipy.sparse

    if path.endswith(".mtx"):
        import scipy.io

        x = scipy.io.mmread(path).tocsr()
    else:
        import anndata

        x = anndata.read_h5ad(path).X
        if not scipy.sparse.issparse(x):
            return x.nbytes
        x = x.tocsr()
    return x.data.nbytes + x.indices.nbytes + x.indptr.nbytes


def measure(reader, path, threads):
    """In this process, behind all imports."""
    usage = lambda: resource.getrusage(resource.RUSAGE_SELF)
    processor = lambda: usage().ru_utime + usage().ru_stime
    import anndata  # noqa: F401
    import scipy.io  # noqa: F401
    import sheaf  # noqa: F401

    memory, used, began = usage().ru_maxrss, processor(), time.perf_counter()
    size = {"sheaf": by_sheaf, "peer": by_peer}[reader](path, threads)
    return {"seconds": time.perf_counter() - began, "processor": processor() - used, "memory": (usage().ru_maxrss - memory) * 1024 / size}


def child(reader, path, threads):
    command = [sys.executable, __file__, "--one", reader, path, "--threads", str(threads)]
    cores = sorted(os.sched_getaffinity(0))[:threads]
    done = subprocess.run(["taskset", "-c", ",".join(map(str, cores)), *command], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--megabytes", type=float, default=200)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--folder")
    options.add_argument("--one", nargs=2)
    asked = options.parse_args()
    if asked.one:
        print(json.dumps(measure(*asked.one, asked.threads)))
        return
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        make(Path(folder), asked.megabytes)
        print(f"{'file':16} {'MB':>6} {'processor s':>23} {'seconds':>19} {'memory':>15}  ratio (processor, seconds)")
        for path in sorted(Path(folder).iterdir()):
            path.read_bytes()  # into the page cache
            ours, peer = (min((child(reader, str(path), asked.threads) for _ in range(3)), key=lambda one: one["processor"]) for reader in ("sheaf", "peer"))
            print(f"{path.name:16} {path.stat().st_size / 1e6:6.0f} {ours['processor']:10.2f} {peer['processor']:10.2f}  {ours['seconds']:9.2f} {peer['seconds']:9.2f}"
                  f" {ours['memory']:7.2f} {peer['memory']:7.2f}  {peer['processor'] / ours['processor']:.1f}  {peer['seconds'] / ours['seconds']:.1f}")


if __name__ == "__main__":
    main()
