#!/usr/bin/env python3
"""The choice among models beside a search of each model alone: `sheaf search FILE` and `sheaf search FILE --model M`.

    bench/models.py PROGRAM FILE...

One line for each file: what the choice took, its score, the best score of a single model with its standard error, and
the processor seconds of the choice over those of the slowest single model. Splits and seeds are the same.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def run(program, table, folder, *options):
    before = os.times()
    begin = time.monotonic()
    subprocess.run([program, "search", table, "--output", folder, "--seed", "1", "--quiet", *options], check=True)
    wall = time.monotonic() - begin
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return json.loads((pathlib.Path(folder) / "results.json").read_text()), seconds, wall


def main(program, tables):
    print(f"{'table':24} {'chosen':20} {'score':>8} {'best alone':>20} {'s.e.':>7} {'behind':>7} {'cpu':>7} {'ratio':>6} {'wall':>6}")
    worst = 0.0
    for table in tables:
        with tempfile.TemporaryDirectory() as folder:
            found, seconds, wall = run(program, table, folder + "/auto")
            sign = -1 if found["score"] in ("rmse", "mean-squared-error", "partial-likelihood-deviance") else 1
            alone = []
            for model in found["models"]:
                kind = model["model"].split()[0]
                scale = model["pipeline"]["scale"]
                options = ["--model", kind, "--scale", "none" if scale == "auto" else scale]
                if model["pipeline"]["transform"]:
                    options += ["--transform", ",".join(model["pipeline"]["transform"])]
                options += ["--score", found["score"], "--split", found["split"]]
                result, own, own_wall = run(program, table, f"{folder}/{model['model']}", *options)
                alone.append((sign * result["chosen"][found["score"]]["mean"], model["model"],
                              result["chosen"][found["score"]]["standard_error"], own, own_wall))
            best = max(alone)
            score = found["chosen"][found["score"]]["mean"]
            behind = (best[0] - sign * score) / best[2] if best[2] > 0 else 0.0
            ratio = seconds / max(one[3] for one in alone)
            worst = max(worst, behind)
            print(f"{pathlib.Path(table).name[:24]:24} {found['models'][0]['model']:20} {score:8.4f} "
                  f"{best[1]:>11} {sign * best[0]:8.4f} {best[2]:7.4f} {behind:7.2f} {seconds:7.2f} {ratio:6.2f} "
                  f"{wall / max(one[4] for one in alone):6.2f}", flush=True)
    print(f"behind: standard errors of the best single model; the worst is {worst:.2f}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
