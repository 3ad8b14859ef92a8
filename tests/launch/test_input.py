"""Standard input goes to rank 0."""

from __future__ import annotations

import subprocess

from tests.launch.conftest import Launcher


def test_only_rank_0_has_input(launcher: Launcher) -> None:
    done = launcher.run("-n", "3", "cat", input="a\nb\n")
    assert done.stdout == "[0] a\n[0] b\n"


def test_what_is_not_read_is_left_to_others(launcher: Launcher) -> None:
    """A job inside of a shell's loop does not take the input of the loop."""
    program = f"{launcher.program} -n 2 true; cat"
    done = subprocess.run(
        ["sh", "-c", program], input="rest\n", capture_output=True, text=True, env=launcher.environment
    )
    assert done.stdout == "rest\n"


def test_input_of_another_host(launcher: Launcher, remote_shell: str) -> None:
    lines = "".join(f"{number}\n" for number in range(200_000))
    options = ["--hosts", "far:2,localhost:1", "--remote-shell", remote_shell, "--address", "127.0.0.1", "--no-tag"]
    done = launcher.run(*options, "cat", input=lines)
    assert done.stdout == lines
    assert launcher.run(*options, "true", input=lines).returncode == 0
