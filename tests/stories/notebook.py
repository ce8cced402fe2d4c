"""Runs the code of a notebook, cell after cell, as Jupyter would.

    notebook.py FILE
"""

import json
import sys

names = {}
for number, cell in enumerate(json.load(open(sys.argv[1]))["cells"], start=1):
    if cell["cell_type"] == "code":
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
