"""Programs in a process of their own, whose output and standard error are looked at apart, each with a deadline."""

import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: The longest that anything may take, in seconds: far more than it takes.
DEADLINE = 60.0

#: Between two looks at a condition.
_MOMENT = 0.005

_moments = threading.Event()


def eventually(condition: Callable[[], Any], what: str, deadline: float = DEADLINE) -> Any:
    """What a condition gives, as soon as it holds."""
    until = time.monotonic() + deadline
    while not (found := condition()):
        assert time.monotonic() < until, f"not within {deadline} s: {what}"
        _moments.wait(_MOMENT)
    return found


def _hears_ctrl_c() -> None:
    """Tests that run in the background are started deaf to Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Child:
    """A Python program under way, given as a text. It does not outlive the block it is used in."""

    def __init__(self, folder: Path, source: str, *arguments: str, environment: dict[str, str] | None = None) -> None:
        descriptor, self.path = tempfile.mkstemp(".py", "program-", folder)
        with os.fdopen(descriptor, "w") as file:
            file.write(source)
        self._said_badly = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [sys.executable, "-u", self.path, *arguments],
            env={**os.environ, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said_badly,
            text=True,
            bufsize=1,
            preexec_fn=_hears_ctrl_c,
        )
        self._rest = ""

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()  # also what is stopped
        self.process.wait(DEADLINE)
        self.process.stdout.close()
        self.process.stdin.close()
        self._said_badly.close()

    @property
    def pid(self) -> int:
        """The process."""
        return self.process.pid

    def line(self, deadline: float = DEADLINE) -> str:
        """The next line that it prints."""
        until = time.monotonic() + deadline
        while "\n" not in self._rest:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, until - time.monotonic()))
            more = os.read(self.process.stdout.fileno(), 1 << 16).decode() if ready else ""
            assert more, f"it printed no line but {self._rest!r}; on its standard error:\n{self.errors()}"
            self._rest += more
        line, self._rest = self._rest.split("\n", 1)
        return line

    def say(self, text: str) -> None:
        """Give it a line to read."""
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def stop(self) -> None:
        """Stop it, as a debugger does, and wait until it stands still."""
        self.signal(signal.SIGSTOP)
        eventually(lambda: self.state() == "T", "it stands still")

    def state(self) -> str:
        """What its main thread is at: "R", "S" where it waits, "T" where it was stopped."""
        status = Path(f"/proc/{self.pid}/stat").read_text()
        return status.rpartition(")")[2].split()[0]

    def waits(self) -> None:
        """Return once its main thread waits for something: as it looks now, and a few times more."""
        seen = 0

        def still() -> bool:
            nonlocal seen
            seen = seen + 1 if self.state() == "S" else 0
            return seen >= 5

        eventually(still, "it waits")

    def errors(self) -> str:
        """Its standard error so far."""
        self._said_badly.seek(0)
        return self._said_badly.read()

    def finish(self, deadline: float = DEADLINE) -> "subprocess.CompletedProcess[str]":
        """Wait for its end. Gives status, output that was not read yet, and standard error."""
        reading = threading.Thread(target=self._read_on)
        reading.start()
        try:
            self.process.wait(deadline)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(DEADLINE)
            reading.join(DEADLINE)
            raise AssertionError(
                f"it did not end within {deadline} s; it printed {self._rest!r}, and on its standard error:\n"
                f"{self.errors()}"
            ) from None
        reading.join(DEADLINE)
        return subprocess.CompletedProcess(self.path, self.process.returncode, self._rest, self.errors())

    def _read_on(self) -> None:
        while more := os.read(self.process.stdout.fileno(), 1 << 16).decode():
            self._rest += more


def run_program(
    folder: Path, source: str, *arguments: str, deadline: float = DEADLINE, environment: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a program to its end, which comes before the deadline."""
    with Child(folder, source, *arguments, environment=environment) as child:
        return child.finish(deadline)
