"""Pictures of results, with matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]  # long names are not cut


def _is_logarithmic(values: Any) -> bool:
    """Whether positive numbers spread over more than a factor of 20."""
    return bool(np.min(values) > 0 and np.max(values) / np.min(values) > 20)


def plot_search(results: dict[str, Any], score: str, ax: Any = None) -> Any:
    """Mean scores over one numeric parameter, with standard deviations, or over two as a surface."""
    names = [name for name in results if name.startswith("param_") and len(set(map(str, results[name]))) > 1]
    if not 1 <= len(names) <= 2:
        raise ValueError(f"a plot is of one or two parameters that vary, and {len(names)} do")
    ax = _axes(ax)
    means, deviations = results[f"mean_test_{score}"], results[f"std_test_{score}"]
    titles = [name[len("param_") :] for name in names]
    if len(names) == 1:
        _plot_line(ax, list(results[names[0]]), means, deviations)
        ax.set(xlabel=titles[0], ylabel=score)
        return ax
    first, second = (sorted(set(results[name]), key=_order) for name in names)
    table = np.full((len(first), len(second)), np.nan)
    for a, b, mean in zip(results[names[0]], results[names[1]], means):
        table[first.index(a), second.index(b)] = mean
    image = ax.imshow(table, origin="lower", aspect="auto")
    ax.set_xticks(range(len(second)), [_label(value) for value in second])
    ax.set_yticks(range(len(first)), [_label(value) for value in first])
    ax.set(xlabel=titles[1], ylabel=titles[0])
    ax.figure.colorbar(image, ax=ax, label=score)
    return ax


def _order(value: Any) -> tuple[int, Any]:
    number = isinstance(value, (int, float, np.number))
    return (0, value) if number else (1, str(value))


def _label(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, (float, np.floating)) else str(value)


def _plot_line(ax: Any, values: list[Any], means: Any, deviations: Any) -> None:
    if not all(isinstance(value, (int, float, np.number)) for value in values):
        ax.errorbar([str(value) for value in values], means, deviations, fmt="o", capsize=3)
        return
    order = np.argsort(values)
    x = np.asarray(values, dtype=float)[order]
    ax.plot(x, means[order], marker="o")
    ax.fill_between(x, (means - deviations)[order], (means + deviations)[order], alpha=0.2)
    if _is_logarithmic(x):
        ax.set_xscale("log")


def plot_stability(frequencies: Any, threshold: float, names: Any, ax: Any = None, most: int = 30) -> Any:
    """The share of resamples that chose each of the most frequent features."""
    ax = _axes(ax)
    order = np.argsort(-frequencies, kind="stable")[:most]
    order = order[frequencies[order] > 0]
    places = np.arange(len(order))
    ax.barh(places, frequencies[order], color=["C0" if frequencies[j] >= threshold else "0.8" for j in order])
    ax.set_yticks(places, [str(names[j]) for j in order])
    ax.invert_yaxis()
    ax.axvline(threshold, color="0.3", linestyle="--")
    ax.set(xlabel="share of the resamples", xlim=(0, 1))
    return ax
