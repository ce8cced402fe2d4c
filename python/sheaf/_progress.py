"""How far long work is, on a terminal or in a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

_LISTEN_AFTER = 1.0  # seconds; shorter work shows nothing


class _Bar:
    """A bar of tqdm where that is installed, else a line that is written over."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._stage = ""
        self._bar: Any = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        if not stage or total <= 0 or time.monotonic() - self._begin < _LISTEN_AFTER:
            return
        share = min(1.0, done / total)
        try:
            from tqdm.auto import tqdm
        except ImportError:
            print(f"\r{stage}: {100 * share:3.0f} %", end="", file=sys.stderr, flush=True)
            return
        if stage != self._stage:
            self.close()
            self._bar = tqdm(desc=stage, total=100, leave=False, unit="%")
            self._stage = stage
        self._bar.n = round(100 * share)
        self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()

    def __del__(self) -> None:
        self.close()


def listener(verbose: int) -> Callable[[str, int, int], None] | None:
    """What is called ten times a second while the library works; None where nobody sees it, as in a pipe."""
    seen = sys.stderr.isatty() or "ipykernel" in sys.modules
    return _Bar() if verbose and seen else None
