"""experiments/run.py: the server that cells are forked from."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

CODE = """
import sys
sys.path.remove("")  # `clir` does not have it
from smooth_clir.experiments import run
if __name__ == "__main__":
    run.PRELOADED[:] = ["pipeline.layout"]
    code = "import os, pipeline; print(pipeline.__file__, os.getcwd())"
    process = run._start_server().Process(target=exec, args=(code,))
    process.start()
    process.join()
"""


@pytest.mark.stages
def test_cells_import_the_project_where_the_current_folder_has_a_module_of_its_names(tmp_path: Path) -> None:
    (tmp_path / "pipeline.py").write_text("print('imported')")
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{ROOT / 'pipeline' / '__init__.py'} {tmp_path}\n", done.stderr
