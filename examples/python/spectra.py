"""Rescoring of peptide-spectrum matches: how many more are accepted at 1 % false discoveries.

    python3 examples/python/spectra.py [PIN FILE]

Without a file, matches with a known truth are generated.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from sheaf import Percolator


def main():
    with tempfile.TemporaryDirectory() as folder:
        given = [argument for argument in sys.argv[1:] if Path(argument).is_file()]
        pin = Path(given[0]) if given else Path(folder) / "spectra.pin"
        if not given:
            command = [sys.executable, "-m", "sheaf", "generate", "psms", str(pin), "--spectra", "5000", "--quiet"]
            subprocess.run(command, check=True)
        model = Percolator().fit(pin)
        print(f"{model.n_accepted_} matches and {model.n_accepted_peptides_} peptides at 1 % false discoveries")
        print(model.psms_[["PSMId", "score", "q-value", "posterior_error_prob"]].head(3).to_string(index=False))
        accepted = model.psms_[model.psms_["target"] & (model.psms_["q-value"] < 0.01)]
        if not given:  # the generator writes the truth into the names
            wrong = (~accepted["PSMId"].str.endswith("_correct")).mean()
            print(f"of the accepted matches {wrong:.1%} are wrong")
        print("accepted in the test folds, round by round:", model.history_["tested"].tolist())


if __name__ == "__main__":
    main()
