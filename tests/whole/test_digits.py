"""The demo program gives the same numbers in every language, and they are right."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LANGUAGES = sorted(path.parent.name for path in (ROOT / "bindings").glob("*/binding.mk"))


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("digits")
    for language in LANGUAGES:
        for step in ("install", "demo"):
            command = ["make", "--no-print-directory", "-s", f"{step}-{language}"]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        (folder / f"{language}.txt").write_text(done.stdout)
    return {language: folder / f"{language}.txt" for language in LANGUAGES}


def test_outputs_agree(outputs: dict[str, Path]) -> None:
    compare = [str(ROOT / ".venv" / "bin" / "python"), "examples/digits/compare.py", *map(str, outputs.values())]
    done = subprocess.run(compare, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_against_numpy(outputs: dict[str, Path]) -> None:
    """The variance that the components explain, and the accuracy, from NumPy's eigenvalues and sorting."""
    import numpy as np

    table = np.loadtxt(ROOT / "examples" / "data" / "digits.csv.gz", delimiter=",")
    images, labels = table[:, :64], table[:, 64].astype(int)
    held_out = np.arange(len(images)) % 3 == 0
    mean, std = images[~held_out].mean(0), images[~held_out].std(0, ddof=1)
    std[std == 0] = 1
    train, test = (images[~held_out] - mean) / std, (images[held_out] - mean) / std
    values, vectors = np.linalg.eigh(train.T @ train / (len(train) - 1))
    basis = vectors[:, -16:]
    distances = ((test @ basis)[:, None] - (train @ basis)[None]) ** 2
    nearest = distances.sum(2).argsort(1, kind="stable")[:, :5]
    guess = np.array([np.bincount(row, minlength=10).argmax() for row in labels[~held_out][nearest]])
    accuracy = (guess == labels[held_out]).mean()

    text = next(iter(outputs.values())).read_text()
    explained = float(re.search(r"components: ([\d.]+)", text)[1])  # type: ignore[index]
    found = float(re.search(r"accuracy: ([\d.]+)", text)[1])  # type: ignore[index]
    assert explained == pytest.approx(values[-16:].sum() / values.sum(), abs=1e-4)
    assert found == pytest.approx(accuracy, abs=0.004)
