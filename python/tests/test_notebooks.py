"""The notebooks run from the first cell to the last, in a kernel of this environment."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))

#: The longest that a cell may take, and that a notebook may, in seconds.
CELL_TIMEOUT, TIMEOUT = 120, 240

#: Runs a notebook, and says how many of its cells printed something.
RUN = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
resources = {"metadata": {"path": sys.argv[2]}}
nbclient.NotebookClient(notebook, timeout=int(sys.argv[3]), kernel_name="python3", resources=resources).execute()
print(sum(bool(cell.get("outputs")) for cell in notebook.cells))
"""


def test_they_are_there():
    assert {path.stem for path in NOTEBOOKS} == {"first_steps", "live_plot", "steering"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "it is kept without what it printed"
    # In a process of its own: if a kernel dies, its client may wait for it for ever.
    words = [sys.executable, "-c", RUN, str(path), str(tmp_path), str(CELL_TIMEOUT)]
    env = {**os.environ, "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) > 0
