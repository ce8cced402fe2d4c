#!/usr/bin/python3
"""One small dataset in every file format, written by the programs of the field: NumPy, SciPy, biom-format, anndata, h5py
and openpyxl. `expected.csv` says what each file holds.

    make.py            writes the files into this folder
    make.py check DIR  reads table.npz, sparse.npz, table.mtx, table.biom and table.h5ad of DIR, as Sheaf has written them,
                       with the same programs, and compares them with expected.csv
"""

import csv
import gzip
import json
import os
import shutil
import sys
import zipfile

import anndata
import biom
import h5py
import numpy as np
import openpyxl
import pandas as pd
import scipy.io
import scipy.sparse as sp

here = os.path.dirname(os.path.abspath(__file__))

X = np.array([
    [1.5, 0.0, -2.0, 7.0],
    [0.0, 3.25, 0.0, 0.1],
    [2.0, 0.0, 0.0, 1e-3],
    [0.0, 0.0, 5.0, 0.0],
    [4.0, 1.0, 0.0, 12345.678],
    [0.0, 2.0, 0.0, 0.0],
])
features = ["geneA", "gene B", "Bacteroides; g__", "9"]
samples = ["s1", "s2", "s3", "s4", "s5", "s6"]
disease = ["sick", "healthy", "sick", "healthy", "sick", "healthy"]
subject = ["p1", "p1", "p2", "p2", "p3", "p3"]
age = [30.5, 41.0, 22.0, 57.0, 63.0, 35.0]
counts = np.array([[3, 0, 1, 250], [0, 7, 0, 1], [1, 0, 0, 0], [0, 0, 9, 2], [8, 1, 0, 0], [0, 2, 0, 4]])


def path(name):
    os.makedirs(os.path.join(here, os.path.dirname(name)), exist_ok=True)
    return os.path.join(here, name)


def write_expected():
    for name, values in (("expected.csv", X), ("counts.csv", counts)):
        with open(path(name), "w", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(["id", *features, "age", "subject", "disease"])
            for i, sample in enumerate(samples):
                rows.writerow([sample, *values[i].tolist(), age[i], subject[i], disease[i]])


def write_metadata():
    """In another order than the samples, with one id too many (s9) and one missing (s4)."""
    with open(path("metadata.tsv"), "w") as file:
        file.write("#SampleID\tdisease\tsubject\tage\tweight\n#q2:types\tcategorical\tcategorical\tnumeric\tnumeric\n")
        for i in (5, 4, 2, 1, 0):
            file.write(f"{samples[i]}\t{disease[i]}\t{subject[i]}\t{age[i]}\t{i + 1}\n")
        file.write("s9\tsick\tp9\t50\t1\n")


def write_numpy():
    for name, array in {
        "f8": X, "f4": X.astype("<f4"), "big_f8": X.astype(">f8"), "fortran": np.asfortranarray(X),
        "big_fortran_f4": np.asfortranarray(X.astype(">f4")), "f2": X.astype("<f2"),
        "i1": counts.clip(-128, 127).astype("i1"), "i2": counts.astype("<i2"), "big_i4": counts.astype(">i4"),
        "i8": counts.astype("<i8"), "u1": counts.astype("u1"), "big_u2": counts.astype(">u2"), "u4": counts.astype("<u4"),
        "u8": counts.astype("<u8"), "bool": counts > 0, "one": X[:, 0],
    }.items():
        np.save(path(f"npy/{name}.npy"), array)
    more = {"y": np.array(disease), "feature_names": np.array(features), "row_names": np.array(samples),
            "subject": np.array(subject)}
    np.savez(path("dense.npz"), X=X, **more)
    np.savez_compressed(path("compressed.npz"), X=np.asfortranarray(X), **more)
    np.savez(path("only.npz"), X)
    np.savez(path("numbers.npz"), X=X, y=np.array(age))
    for kind in ("csr", "csc", "coo"):
        sp.save_npz(path(f"{kind}.npz"), sp.csr_matrix(X).asformat(kind))


def write_market():
    scipy.io.mmwrite(path("general.mtx"), sp.coo_matrix(X), precision=17)
    scipy.io.mmwrite(path("integer.mtx"), sp.coo_matrix(counts))
    scipy.io.mmwrite(path("array.mtx"), X, precision=17)
    scipy.io.mmwrite(path("pattern.mtx"), sp.coo_matrix(counts), field="pattern")
    square = X.T @ X
    scipy.io.mmwrite(path("symmetric.mtx"), sp.coo_matrix(square), symmetry="symmetric", precision=17)
    scipy.io.mmwrite(path("symmetric_array.mtx"), square, symmetry="symmetric", precision=17)
    np.save(path("symmetric.npy"), square)
    scipy.io.mmwrite(path("tenx/matrix.mtx"), sp.coo_matrix(X.T), precision=17)
    for name, lines in (("barcodes", samples), ("features", [f"{f}\tsymbol{j}\tGene Expression" for j, f in enumerate(features)])):
        with gzip.GzipFile(path(f"tenx/{name}.tsv.gz"), "wb", mtime=0) as file:
            file.write(("\n".join(lines) + "\n").encode())
    with open(path("tenx/matrix.mtx"), "rb") as plain, gzip.GzipFile(path("tenx/matrix.mtx.gz"), "wb", mtime=0) as file:
        file.write(plain.read())
    os.remove(path("tenx/matrix.mtx"))


def write_biom():
    about = [{"disease": d, "subject": s, "age": a} for d, s, a in zip(disease, subject, age)]
    taxa = [{"taxonomy": ["k__Bacteria", f"g__{j}"]} for j in range(len(features))]
    table = biom.Table(X.T, features, samples, taxa, about, type="OTU table")
    with open(path("table1.biom"), "w") as file:
        file.write(table.to_json("biom-format"))
    dense = json.loads(table.to_json("biom-format"))
    dense["matrix_type"], dense["data"] = "dense", X.T.tolist()
    with open(path("dense1.biom"), "w") as file:
        json.dump(dense, file)
    with h5py.File(path("table2.biom"), "w") as file:
        table.to_hdf5(file, "biom-format")
    plain = biom.Table(counts.T, features, samples)
    with h5py.File(path("plain2.biom"), "w") as file:
        plain.to_hdf5(file, "biom-format")
    root = "0a1b2c3d-0000-4000-8000-000000000000/"
    with zipfile.ZipFile(path("table.qza"), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(root + "VERSION", "QIIME 2\narchive: 5\nframework: 2022.2.0\n")
        archive.writestr(root + "metadata.yaml", "uuid: 0a1b2c3d\ntype: FeatureTable[Frequency]\nformat: BIOMV210DirFmt\n")
        archive.write(path("plain2.biom"), root + "data/feature-table.biom")


def write_anndata():
    obs = pd.DataFrame({"disease": pd.Categorical(disease), "subject": subject, "age": age, "old": [a > 40 for a in age],
                        "rank": range(len(samples))}, index=samples)
    var = pd.DataFrame({"symbol": [f"symbol{j}" for j in range(len(features))]}, index=features)
    for name, matrix in (("dense", X), ("csr", sp.csr_matrix(X)), ("csc", sp.csc_matrix(X))):
        data = anndata.AnnData(matrix, obs=obs, var=var, dtype=np.float64)
        data.layers["counts"] = sp.csr_matrix(counts.astype(np.float32))
        data.write(path(f"{name}.h5ad"), compression="gzip" if name == "csr" else None)
    write_chunks()
    write_variants()
    with h5py.File(path("tenx.h5"), "w") as file:  # as Cell Ranger 3 and later
        by_cells = sp.csc_matrix(counts.T)
        group = file.create_group("matrix")
        group["barcodes"] = np.array(samples, dtype="S")
        group["data"], group["indices"] = by_cells.data.astype("i4"), by_cells.indices.astype("i8")
        group["indptr"], group["shape"] = by_cells.indptr.astype("i8"), np.array(by_cells.shape, "i4")
        about = group.create_group("features")
        about["id"], about["name"] = np.array(features, dtype="S"), np.array([f"symbol{j}" for j in range(4)], dtype="S")
        about["feature_type"] = np.array(["Gene Expression"] * 4, dtype="S")


def write_chunks():
    """The same in several chunks, whose sizes divide those of the arrays nowhere; in dense_fill.h5ad zeros are not written at all."""
    packed = {"compression": "gzip", "shuffle": True}
    for name, arrays in (("dense", {"X": {"chunks": (4, 3), **packed}}), ("csc", {"X/data": {"chunks": (5,), **packed}, "X/indices": {"chunks": (4,)}}),
                         ("fill", {"X": {"chunks": (1, 1)}})):
        to = path("dense_fill.h5ad" if name == "fill" else f"{name}_chunks.h5ad")
        shutil.copy(path("csc.h5ad" if name == "csc" else "dense.h5ad"), to)
        with h5py.File(to, "a") as file:
            for array, how in arrays.items():
                values, about = file[array][()], dict(file[array].attrs)
                del file[array]
                made = file.create_dataset(array, values.shape, values.dtype, **how)
                if name == "fill":
                    for place in zip(*np.nonzero(values)):
                        made[place] = values[place]
                else:
                    made[()] = values
                made.attrs.update(about)


def write_variants():
    """The same compressed by LZF; in the form of later versions of HDF5; and with checksums, which libhdf5 alone checks."""
    for name, file_options, array_options in (("lzf", {}, {"compression": "lzf", "shuffle": True, "chunks": True}), ("later", {"libver": "latest"}, {"chunks": True}),
                                              ("checksums", {}, {"fletcher32": True, "chunks": True})):
        with h5py.File(path("csr.h5ad")) as source, h5py.File(path(f"{name}.h5ad"), "w", **file_options) as to:
            copy(source, to, array_options)


def copy(source, to, array_options):
    for name, value in source.attrs.items():
        to.attrs[name] = value
    for name, value in source.items():
        if isinstance(value, h5py.Group):
            copy(value, to.create_group(name), array_options)
            continue
        numbers = value.shape and value.dtype.kind in "iuf"
        copied = to.create_dataset(name, data=value[()], dtype=value.dtype, **(array_options if numbers else {}))
        for attribute, text in value.attrs.items():
            copied.attrs[attribute] = text


def write_xlsx():
    book = openpyxl.Workbook()
    book.active.title = "about"
    book.active.append(["a sheet of remarks"])
    sheet = book.create_sheet("data & more")
    sheet.append(["id", *features, "age", "taken", "smokes", "subject", "disease"])
    for i, sample in enumerate(samples):
        sheet.append([sample, *X[i].tolist(), age[i], pd.Timestamp(2021, 3, i + 1).to_pydatetime(), i % 2 == 0, subject[i], disease[i]])
    gaps = book.create_sheet("gaps")
    gaps.append(["a", "b", "c", "label"])
    gaps.append([1, None, 3, "x"])
    gaps.append([4, 5, None, "y"])
    gaps.append([None, 8, 9, "x"])
    book.save(path("table.xlsx"))


def check(folder):
    """Sheaf's files, with columns that expected.csv has as features (age) among the features."""
    all_features = [*features, "age"]
    full = np.column_stack([X, age])

    def same(what, matrix, names, rows, labels):
        matrix = matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)
        assert np.array_equal(matrix, full), (what, matrix)
        assert list(names) == all_features, (what, list(names))
        assert list(rows) == samples, (what, list(rows))
        assert list(labels) == disease, (what, list(labels))

    archive = np.load(os.path.join(folder, "table.npz"))
    same("npz", archive["X"], archive["feature_names"], archive["row_names"], archive["y"])
    assert list(archive["group"]) == subject
    archive = np.load(os.path.join(folder, "sparse.npz"))
    same("sparse npz", sp.load_npz(os.path.join(folder, "sparse.npz")), archive["feature_names"], archive["row_names"], archive["y"])
    lines = lambda name: [line.rstrip("\n").split("\t") for line in open(os.path.join(folder, name))]
    same("mtx", scipy.io.mmread(os.path.join(folder, "table.mtx")).T, [x[0] for x in lines("table_features.tsv")],
         [x[0] for x in lines("table_barcodes.tsv")], [x[2] for x in lines("table_metadata.tsv")[1:]])
    if os.path.exists(os.path.join(folder, "table.biom")):
        table = biom.load_table(os.path.join(folder, "table.biom"))
        same("biom", table.matrix_data.T, table.ids("observation"), table.ids("sample"),
             [table.metadata(s, "sample")["disease"] for s in samples])
        assert [list(table.metadata(f, "observation")["taxonomy"]) for f in all_features] == [["k__Bacteria", f"g__{j}"] for j in range(5)]
        assert [table.metadata(f, "observation")["symbol"] for f in all_features] == [f"symbol{j}" for j in range(5)]
    for name in ("table.h5ad", "sparse.h5ad"):
        if os.path.exists(os.path.join(folder, name)):
            data = anndata.read_h5ad(os.path.join(folder, name))
            same(name, data.X, data.var_names, data.obs_names, data.obs["disease"])
            assert data.obs["disease"].dtype == "category"
            assert list(data.obs["group"]) == subject
            assert list(data.var["symbol"]) == [f"symbol{j}" for j in range(5)]
    print("all files are as expected")


if len(sys.argv) == 3 and sys.argv[1] == "check":
    check(sys.argv[2])
else:
    write_expected()
    write_metadata()
    write_numpy()
    write_market()
    write_biom()
    write_anndata()
    write_xlsx()
