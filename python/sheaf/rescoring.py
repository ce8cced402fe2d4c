"""Rescoring of peptide-spectrum matches, as Percolator does it."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import Array, choice
from ._data import PRECISIONS, make_context, number_text

__all__ = ["Percolator"]


def _write_pin(table: Any, path: str) -> None:
    """A data frame as a PIN file: columns as they are, proteins last, with tabs between those of one row."""
    names = [str(name) for name in table.columns]
    lower = [name.lower() for name in names]
    for needed in ("label", "peptide", "proteins"):
        if needed not in lower:
            raise ValueError(f"psms has no column '{needed.capitalize()}'; its columns are {', '.join(names)}")
    order = [k for k, name in enumerate(lower) if name not in ("peptide", "proteins")]
    order.append(lower.index("peptide"))
    lines = table.iloc[:, order].to_csv(sep="\t", index=False, float_format="%.17g", lineterminator="\n").splitlines()
    proteins = ["Proteins", *table.iloc[:, lower.index("proteins")].astype(str)]
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\t{own}\n" for line, own in zip(lines, proteins))

#: The columns of tables, by their names in files.
_COLUMNS = {
    "id": "PSMId",
    "protein": "ProteinId",
    "target": "target",
    "score": "score",
    "q": "q-value",
    "pep": "posterior_error_prob",
    "peptide": "peptide",
    "proteins": "proteinIds",
    "peptides": "peptideIds",
}


class Percolator(BaseEstimator):  # type: ignore[misc]
    """Rescore peptide-spectrum matches (PSMs) with what separates targets from decoys in these very data.

    Targets that a score separates from decoys are the positives from which the next score is learnt, in three folds
    (Kall and others 2007). Results do not depend on the order of rows; ``rules='percolator'`` follows Percolator 3.08 to
    the printed digit instead.

    Parameters
    ----------
    test_fdr : float, default=0.01
        False discovery rate at which results are counted and models are chosen.
    train_fdr : float, default=0.01
        False discovery rate of the targets that are trained on.
    n_iter : int, default=10
        Rounds of choosing positives and training.
    direction : str, default=None
        The feature to begin with, after a '-' where lower is better; None: the best of each fold.
    search : {'auto', 'concatenated', 'separate'}, default='auto'
        How targets and decoys were searched; 'auto': separate where a spectrum has both.
    confidence : {'auto', 'competition', 'mix-max', 'plain'}, default='auto'
        How false discoveries are estimated.
    pep : {'auto', 'rank', 'score', 'pooled', 'spline', 'corrected'}, default='auto'
        How posterior error probabilities are estimated.
    group : str, default=None
        q-values within groups: 'file', 'charge', 'modified', or the values of a column; None: of all together.
    proteins : bool, default=False
        Proteins too, by their best peptide that no other protein has.
    decoy_prefix : str, default=None
        What names of decoy proteins have before those of targets; None: what all decoys share, up to '_'.
    subset : int, default=None
        PSMs to train on; all are scored. None: all.
    ignore : sequence of str, default=()
        Columns that are no features.
    rules : {'safe', 'percolator'}, default='safe'
        Whose rules settle what the method leaves open.
    device : str, default='auto'
        'cpu', 'cuda', 'cuda:N', or 'auto': a GPU where the work is large enough for one.
    precision : {'float32', 'float64'}, default='float64'
        Of the features.
    n_threads : int, default=None
        CPU threads; None: all cores. Results do not depend on it.
    random_state : int, default=1
        Seed of folds and bootstraps, 1 or more.
    verbose : int, default=0
        Above 0: shows progress.

    Attributes
    ----------
    psms_ : DataFrame
        The best match of each spectrum from the best to the worst, targets and decoys: 'PSMId', 'target', 'score',
        'q-value', 'posterior_error_prob', 'peptide' and 'proteinIds' (tabs between).
    peptides_ : DataFrame
        The same of the best match of each peptide.
    proteins_ : DataFrame
        'ProteinId', 'target', 'score', 'q-value', 'posterior_error_prob', 'peptideIds'; empty where not asked for.
    n_accepted_ : int
        Target PSMs with a q-value below `test_fdr`.
    n_accepted_peptides_ : int
        Target peptides likewise.
    coef_ : ndarray of shape (3, n_features)
        Weights of the features as they are, for each fold.
    intercept_ : ndarray of shape (3,)
        Of each fold.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features.
    history_ : DataFrame
        Targets that each round accepts, as estimated by the training parts and in the test folds.

    Examples
    --------
    >>> from sheaf import Percolator
    >>> Percolator(n_iter=5).fit('run.pin').psms_  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        test_fdr: float = 0.01,
        train_fdr: float = 0.01,
        n_iter: int = 10,
        direction: str | None = None,
        search: str = "auto",
        confidence: str = "auto",
        pep: str = "auto",
        group: str | None = None,
        proteins: bool = False,
        decoy_prefix: str | None = None,
        subset: int | None = None,
        ignore: Sequence[str] = (),
        rules: str = "safe",
        device: str = "auto",
        precision: str = "float64",
        n_threads: int | None = None,
        random_state: int = 1,
        verbose: int = 0,
    ) -> None:
        self.test_fdr = test_fdr
        self.train_fdr = train_fdr
        self.n_iter = n_iter
        self.direction = direction
        self.search = search
        self.confidence = confidence
        self.pep = pep
        self.group = group
        self.proteins = proteins
        self.decoy_prefix = decoy_prefix
        self.subset = subset
        self.ignore = ignore
        self.rules = rules
        self.device = device
        self.precision = precision
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose

    def _settings(self) -> dict[str, str]:
        settings = {
            "fdr": number_text(self.test_fdr),
            "train-fdr": number_text(self.train_fdr),
            "iterations": number_text(self.n_iter),
            "search": str(self.search),
            "confidence": str(self.confidence),
            "pep": str(self.pep),
            "proteins": number_text(bool(self.proteins)),
            "seed": number_text(self.random_state),
        }
        for name, value in (
            ("direction", self.direction),
            ("group", self.group),
            ("decoy-prefix", self.decoy_prefix),
            ("subset", None if self.subset is None else number_text(self.subset)),
            ("ignore", ",".join(self.ignore) or None),
        ):
            if value is not None:
                settings[name] = str(value)
        return settings

    def _rescore(self, psms: Any, weights: Iterable[float] | None) -> dict[str, Any]:
        as_percolator = choice("rules", self.rules, {"safe": "", "percolator": "yes"}) != ""
        single = choice("precision", self.precision, PRECISIONS) == "float"
        with tempfile.TemporaryDirectory() as folder:
            if hasattr(psms, "columns"):
                files = [os.path.join(folder, "psms.pin")]
                _write_pin(psms, files[0])
            else:
                files = [os.fspath(path) for path in ([psms] if isinstance(psms, (str, Path)) else psms)]
            context = make_context(self, verbose=self.verbose)
            given = None if weights is None else [float(weight) for weight in weights]
            answer = _core.rescore(context, files, self._settings(), as_percolator, single, given)
        for warning in answer["warnings"]:
            warnings.warn(warning, UserWarning, stacklevel=3)
        return answer

    def fit(self, psms: Any, y: Any = None) -> Percolator:
        """Learn from PSMs and rescore them.

        Parameters
        ----------
        psms : str, path, sequence of these, or DataFrame
            PIN files (compressed or not), or the table of one: a column 'Label' (1: target, -1: decoy), 'Peptide' and
            'Proteins', the usual 'SpecId', 'ScanNr', 'ExpMass', 'CalcMass' where there are such, and features.
        y : ignored
            For scikit-learn's interface.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        answer = self._rescore(psms, None)
        self._take_results(answer)
        raw: Array = np.asarray(answer["raw"], dtype=np.float64)
        self.coef_, self.intercept_ = raw[:, :-1], raw[:, -1]
        self._normalised = answer["normalised"]
        self.feature_names_in_ = np.asarray(answer["feature_names"], dtype=object)
        return self

    def _take_results(self, answer: dict[str, Any]) -> None:
        import pandas as pd

        self.psms_, self.peptides_, self.proteins_ = (
            pd.DataFrame({name: table[key] for key, name in _COLUMNS.items() if key in table})
            for table in (answer["psms"], answer["peptides"], answer["proteins"])
        )
        self.n_accepted_, self.n_accepted_peptides_ = answer["accepted"], answer["accepted_peptides"]
        self.history_ = pd.DataFrame({"estimated": answer["estimated"], "tested": answer["tested"]})

    def rescore(self, psms: Any) -> Percolator:
        """Score other PSMs with the mean of the weights that were learnt, without training.

        Parameters
        ----------
        psms : str, path, sequence of these, or DataFrame
            As for `fit`, with the same features.

        Returns
        -------
        results : Percolator
            Another estimator with ``psms_``, ``peptides_`` and ``proteins_`` of these PSMs.
        """
        check_is_fitted(self)
        mean = np.append(self.coef_.mean(axis=0), self.intercept_.mean())
        answer = self._rescore(psms, mean)
        results = type(self)(**self.get_params())
        results._take_results(answer)
        results.coef_, results.intercept_ = mean[None, :-1], mean[None, -1]
        results._normalised = answer["normalised"]
        results.feature_names_in_ = self.feature_names_in_
        return results

    def save_weights(self, path: str) -> None:
        """Writes the weights as Percolator's weights file, with all digits.

        Parameters
        ----------
        path : str
            The file to write; ``sheaf rescore --model`` and Percolator's ``-W`` read it.
        """
        check_is_fitted(self)
        raw = np.column_stack([self.coef_, self.intercept_]).tolist()
        _core.save_weights(list(self.feature_names_in_), self._normalised, raw, path)
