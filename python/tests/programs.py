"""Programs that tests run beside themselves, each in a process of its own and with a deadline."""

import os
import subprocess
import sys
from pathlib import Path

#: The longest that anything may take, in seconds: far more than it takes.
DEADLINE = 120.0


class Program:
    """A Python program under way: its arguments, and where it runs. It does not outlive the block it is used in."""

    def __init__(self, *arguments: str | Path, folder: Path | None = None, python: str | Path = sys.executable) -> None:
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        self.arguments = [str(argument) for argument in arguments]
        self.process = subprocess.Popen(
            [str(python), *self.arguments],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(DEADLINE)
        self.process.stdout.close()

    def output(self, deadline: float = DEADLINE) -> str:
        """What it printed, when it has ended well."""
        said, _ = self.process.communicate(timeout=deadline)
        assert self.process.returncode == 0, f"{self.arguments} ended with {self.process.returncode}:\n{said}"
        return said


def run(
    *arguments: str | Path,
    folder: Path | None = None,
    python: str | Path = sys.executable,
    deadline: float = DEADLINE,
) -> str:
    with Program(*arguments, folder=folder, python=python) as program:
        return program.output(deadline)


def require(name: str, missing: str | None) -> bool:
    """Whether something that a test needs is there. FLEXPATH_REQUIRE_<NAME> makes its absence a failure."""
    if missing is None:
        return True
    assert f"FLEXPATH_REQUIRE_{name}" not in os.environ, f"{name} is required here, and {missing}"
    return False
