"""Percolator beside the command-line program, which is checked against Percolator itself."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from sheaf import Percolator


def program(*arguments):
    return subprocess.run([sys.executable, "-m", "sheaf", *map(str, arguments)], check=True, capture_output=True, text=True)


@pytest.fixture(scope="module")
def pin(tmp_path_factory):
    path = tmp_path_factory.mktemp("psms") / "run.pin"
    program("generate", "psms", path, "--spectra", 2000, "--seed", 3)
    return path


@pytest.fixture(scope="module")
def fitted(pin):
    return Percolator(n_iter=4).fit(pin)


def table_of(pin):
    """The last column takes all proteins of a row."""
    names, *rows = [line.split("\t") for line in pin.read_text().splitlines()]
    table = pd.DataFrame([[*row[: len(names) - 1], "\t".join(row[len(names) - 1 :])] for row in rows], columns=names)
    for name in table:
        try:
            table[name] = pd.to_numeric(table[name])
        except ValueError:
            pass  # a column of texts
    return table


def targets(frame):
    return frame[frame["target"]].reset_index(drop=True)


def test_it_finds_what_the_program_finds(pin, fitted, tmp_path):
    program("rescore", pin, "--output", tmp_path / "out", "--iterations", 4)
    written = pd.read_csv(tmp_path / "out/psms.tsv", sep="\t", usecols=range(6))
    found = targets(fitted.psms_)
    assert found["PSMId"].tolist() == written["PSMId"].tolist()
    for name in ("score", "q-value", "posterior_error_prob"):
        np.testing.assert_allclose(found[name], written[name], rtol=1e-5, atol=1e-12)
    assert fitted.n_accepted_ == int((found["q-value"] < 0.01).sum()) > 100


def test_rows_of_a_table_are_those_of_the_file_in_any_order(pin, fitted):
    table = table_of(pin).sample(frac=1, random_state=0)
    shuffled = Percolator(n_iter=4).fit(table)
    found = shuffled.psms_.sort_values("PSMId").reset_index(drop=True)
    wanted = fitted.psms_.sort_values("PSMId").reset_index(drop=True)
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-9)


def test_models_are_kept_for_other_runs(pin, fitted, tmp_path):
    fitted.save_weights(str(tmp_path / "model.txt"))
    program("rescore", pin, "--output", tmp_path / "out", "--model", tmp_path / "model.txt")
    written = pd.read_csv(tmp_path / "out/psms.tsv", sep="\t", usecols=range(6))
    found = targets(pickle.loads(pickle.dumps(fitted)).rescore(pin).psms_)
    np.testing.assert_allclose(found["q-value"], written["q-value"], rtol=1e-5)
    assert fitted.coef_.shape == (3, len(fitted.feature_names_in_))


def test_proteins_and_peptides_are_told_when_asked_for(pin):
    model = Percolator(n_iter=1, proteins=True, rules="percolator").fit([pin])
    assert model.proteins_["q-value"].is_monotonic_increasing
    assert 0 < len(model.peptides_) <= len(model.psms_)
    assert len(model.history_) == 1
    assert len(Percolator(n_iter=1).fit(pin).proteins_) == 0


def test_noise_accepts_next_to_nothing(pin):
    table = table_of(pin)
    table["Label"] = np.random.default_rng(0).permutation(table["Label"])
    assert Percolator(n_iter=2).fit(table).n_accepted_ < 20


def test_wrong_use_is_answered_in_words(pin, tmp_path):
    with pytest.raises(ValueError, match="no column 'Label'"):
        Percolator().fit(table_of(pin).drop(columns="Label"))
    with pytest.raises(ValueError, match="missing.pin"):
        Percolator().fit(tmp_path / "missing.pin")
    with pytest.raises(ValueError, match="rules must be one of"):
        Percolator(rules="strict").fit(pin)
    with pytest.raises(ValueError, match="fdr"):
        Percolator(test_fdr=2).fit(pin)
    assert clone(Percolator(group="file")).group == "file"
