"""Tests that the demo programs print the same, correct numbers in every language and on every device."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LANGUAGES = sorted(path.parent.name for path in (ROOT / "bindings").glob("*/binding.mk"))
DEVICES = ["cpu:0", "opencl:0"]

Outputs = dict[str, dict[str, Path]]  # by device and language


def make(*arguments: str) -> str:
    command = ["make", "--no-print-directory", "-s", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Outputs:
    files: Outputs = {device: {} for device in DEVICES}
    for language in LANGUAGES:
        make(f"install-{language}")
        for device in DEVICES:
            file = tmp_path_factory.mktemp("digits") / f"{language}.txt"
            file.write_text(make(f"demo-{language}", f"DEVICE={device}"))
            files[device][language] = file
    return files


def found(file: Path, what: str) -> float:
    match = re.search(rf"^{what}.*: ([\d.]+)", file.read_text(), re.MULTILINE)
    assert match
    return float(match[1])


def compare(files: Iterable[Path], folder: str = "digits") -> subprocess.CompletedProcess[str]:
    command = [str(ROOT / ".venv" / "bin" / "python"), f"examples/{folder}/compare.py", *map(str, files)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


OUTPUT = """cpu:0: A processor, 7.8 GiB
opencl:0: A driver, 6.5 GiB
device: cpu:0
accuracy: 0.964942 (578 of 599)
confusion matrix:
tensor([[1, 2],
        [3, 4]])
time: 0.123 s
"""


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        ("6.5 GiB", "7.0 GiB", ""),  # a driver may report what other programs leave
        ("A driver", "Another driver", ""),
        ("0.123 s", "4.567 s", ""),
        ("opencl:0: A driver, 6.5 GiB\n", "", "opencl:0"),
        ("device: cpu:0", "device: opencl:0", "device"),
        ("578", "579", "accuracy"),
        ("[3, 4]", "[4, 3]", "confusion matrix"),
    ],
)
def test_what_the_machine_decides_is_not_compared(tmp_path: Path, old: str, new: str, differs: str) -> None:
    files = [tmp_path / "one.txt", tmp_path / "two.txt"]
    for file, text in zip(files, [OUTPUT, OUTPUT.replace(old, new)], strict=True):
        file.write_text(text)
    for order in (files, files[::-1]):
        done = compare(order)
        assert done.returncode == bool(differs)
        assert done.stdout.endswith(f"differ in: {differs}\n" if differs else "agree digit for digit.\n")


@pytest.mark.parametrize("device", DEVICES)
def test_languages_print_identical_output(outputs: Outputs, device: str) -> None:
    """Compares all digits, and which devices there are."""
    files = outputs[device]
    done = compare(files.values())
    assert done.returncode == 0, done.stdout
    for file in files.values():
        assert f"\ndevice: {device}\n" in file.read_text()
        assert f"\n{device}: " in f"\n{file.read_text()}"


def test_languages_train_with_identical_losses(outputs: Outputs, tmp_path: Path) -> None:
    files = []
    for language in outputs[DEVICES[0]]:
        files.append(tmp_path / f"{language}.txt")
        files[-1].write_text(make(f"train-{language}", "TRAIN_OPTIONS=--epochs 8"))
    done = compare(files, "train")
    assert done.returncode == 0, done.stdout
    accuracy = re.search(r"accuracy: ([\d.]+)", done.stdout)
    assert accuracy
    assert float(accuracy[1]) >= 0.97


def test_devices_agree_within_rounding(outputs: Outputs) -> None:
    """The tolerances allow for sums in another order."""
    for language in LANGUAGES:
        first, *others = (outputs[device][language] for device in DEVICES)
        for other in others:
            for what, tolerance in (("variance explained", 1e-9), ("accuracy", 0.004)):
                assert found(other, what) == pytest.approx(found(first, what), abs=tolerance)


@pytest.mark.parametrize("language", LANGUAGES)
def test_profiles(outputs: Outputs, tmp_path: Path, language: str) -> None:
    """The option prints a table after the output, and writes a trace."""
    trace = tmp_path / "trace.json"
    text = make(f"demo-{language}", f"DEMO_OPTIONS=--profile {trace}")
    table = text.partition("\ntime: ")[2].splitlines()[1:]
    assert table[0].split() == ["operator", "calls", "total", "self", "mean", "memory", "rate"]
    names = {event["name"] for event in json.loads(trace.read_text())["traceEvents"] if event["ph"] == "X"}
    assert names == {line.split()[0] for line in table[1:-1]}


@pytest.mark.parametrize("device", DEVICES)
def test_results_match_numpy(outputs: Outputs, device: str) -> None:
    """Computes the explained variance and the accuracy with NumPy's eigenvalues and sorting."""
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

    file = next(iter(outputs[device].values()))
    assert found(file, "variance explained") == pytest.approx(values[-16:].sum() / values.sum(), abs=1e-4)
    assert found(file, "accuracy") == pytest.approx(accuracy, abs=0.004)
