"""The command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.launch.conftest import ROOT, Launcher

VERSION = (ROOT / "VERSION").read_text().strip()


def test_version(launcher: Launcher) -> None:
    done = launcher.run("--version")
    assert (done.returncode, done.stdout) == (0, f"oneflow-run {VERSION}\n")


def test_help_lists_what_the_page_does(launcher: Launcher) -> None:
    done = launcher.run("--help")
    assert done.returncode == 0
    assert "not encrypted" in done.stdout
    page = (ROOT / "docs" / "oneflow-run.md").read_text()
    options = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  -")]
    assert len(options) > 10
    assert [option for option in options if f"`{option}" not in page] == []
    assert all(len(line) <= 120 for line in done.stdout.splitlines())


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "which program? oneflow-run -n 4 python train.py"),
        (["-np", "4", "true"], "unknown option -np; did you mean -n?"),
        (["--restart=4", "true"], "unknown option --restart; did you mean --restarts?"),
        (["--zzz", "true"], "unknown option --zzz; --help lists all"),
        (["-n", "0", "true"], "-n must be a number of ranks, got '0'"),
        (["-n", "x", "true"], "-n must be a number of ranks, got 'x'"),
        (["-n"], "-n needs a value: -n N"),
        (["--tag=1", "true"], "--tag takes no value"),
        (["--grace", "-1", "true"], "--grace must be a number of seconds, got '-1'"),
        (["--grace", "nan", "true"], "--grace must be a number of seconds, got 'nan'"),
        (["--port", "70000", "true"], "--port must be a port, got '70000'"),
        (["true", ":"], "a program is missing after ':'"),
        (["true", ":", "--tag", "true"], "--tag is about the whole job: it must be before the first program"),
        (["--hosts", "a:0", "true"], "a host must be a name and a number of ranks, such as node1:4, got 'a:0'"),
        (["--hosts", "-oProxyCommand=x", "true"], "a host must be a name"),
        (["--hosts", ",", "true"], "--hosts names no host"),
        (["--hosts", "a:2", "-n", "3", "true"], "the hosts have room for 2 ranks, and the job has 3"),
        (["--hostfile", "nowhere", "true"], "cannot read nowhere: No such file or directory"),
    ],
)
def test_wrong_command_lines(launcher: Launcher, arguments: list[str], text: str) -> None:
    done = launcher.run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"oneflow-run: {text}")
    assert len(done.stderr.splitlines()) == 1


def test_options_after_the_program_are_its_own(launcher: Launcher) -> None:
    assert launcher.run("-n", "1", "echo", "-n2", "--tag", "--").stdout == "-n2 --tag --\n"
    assert launcher.run("-n=1", "true").returncode == 2
    assert launcher.run("-n", "1", "--", "echo", "x").stdout == "x\n"


def test_a_dry_run_starts_nothing(launcher: Launcher, tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("# ours\nlocalhost:1\n\nfar slots=2  # theirs\n")
    done = launcher.run("--dry-run", "--hostfile", "hosts", "-n", "2", "touch", "a", ":", "touch", "b")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[:2] == ["localhost, 1 rank, this host:", "  rank 0 of 3: touch a"]
    assert lines[2].startswith("far, 2 ranks, by ssh -o BatchMode=yes far exec '/")
    assert lines[3:] == ["  rank 1 of 3: touch a", "  rank 2 of 3: touch b", "the ranks meet at tcp://localhost:PORT"]
    assert not (tmp_path / "a").exists()
