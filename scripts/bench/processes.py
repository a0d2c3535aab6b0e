"""Processes that a bench starts: each is run to its end or ended when its time is up, and nothing of them stays behind.

Ranks under an mpirun, and whatever else a process starts, become children of ours when their parent goes (Linux's child
subreaper), so that they can be found and ended by their ids. What they left in /dev/shm is removed: files that were not
there before, are ours, are named as those of the systems measured here, and that no process has.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import re
import signal
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36
SHARED = pathlib.Path("/dev/shm")
# MPICH; Open MPI; Zenoh; iceoryx2; UCX.
THEIRS = re.compile(r"mpich_shm_|vader_segment\.|.*\.zenoh$|iox2_|ucx_shm_")
COLOURS = re.compile("\x1b\\[[0-9;]*m")


# So much of what a failed program printed is kept.
KEPT_LETTERS = 4000


class NotMeasured(Exception):
    """Why a figure cannot be had here, and the end of what the program printed."""

    def __init__(self, why, printed=""):
        super().__init__(why)
        self.printed = COLOURS.sub("", printed or "")[-KEPT_LETTERS:]


class TookTooLong(NotMeasured):
    """It was ended: there is no use in trying it again."""


def adopt():
    """Makes what our children leave behind our children, and a request to end one that cleans up."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def end(number, _):
        raise SystemExit(128 + number)
    signal.signal(signal.SIGTERM, end)


def last_words(end, text):
    """Why a process failed; an exception of ADIOS2 is followed by lines that say less, and is coloured."""
    lines = (text or "").strip().splitlines() or ["no word"]
    line = next((line for line in lines if "EXCEPTION" in line), lines[-1])
    return f"{pathlib.Path(str(end.args[0])).name} ended with {end.returncode}: {COLOURS.sub('', line).split(' : ')[-1][-160:]}"


def start(command, env=None, **where):
    words = [str(word) for word in command]
    try:
        return subprocess.Popen(words, env={**os.environ, **(env or {})}, text=True, errors="replace", stdin=subprocess.DEVNULL, **where)
    except FileNotFoundError as error:
        raise NotMeasured(f"{pathlib.Path(words[0]).name} is not installed") from error


def finish(end):
    """Ends a process that is still there; what it has started is found by `descendants`."""
    if end.poll() is None:
        end.terminate()
        try:
            end.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            end.kill()
            end.wait()


def run(command, timeout_s, env=None):
    """Runs a command to its end; what it printed. NotMeasured with its last words if it fails or takes too long."""
    end = start(command, env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = end.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired as error:
        raise TookTooLong(f"{pathlib.Path(end.args[0]).name} took longer than {timeout_s} s") from error
    finally:
        finish(end)
    if end.returncode != 0:
        raise NotMeasured(last_words(end, err.strip() or out), out + err)
    return out


def reason(end):
    """Why a process failed and what it printed, if it has; one that still runs is given a moment."""
    try:
        out, err = end.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        return None
    return NotMeasured(last_words(end, err or out), out + err) if end.returncode != 0 else None


def pair(first, second, timeout_s, env=None):
    """Runs two commands side by side; what each printed, as JSON. Neither outlives this call."""
    ends = []
    try:
        for command in (first, second):
            ends.append(start(command, env, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        until, said = time.monotonic() + timeout_s, []
        # The second one measures: where it fails the first may wait for it for ever, or be the reason.
        for end in reversed(ends):
            out, err = end.communicate(timeout=max(1, until - time.monotonic()))
            if end.returncode != 0:
                raise reason(ends[0]) or NotMeasured(last_words(end, err or out), out + err)
            said.append(json.loads(out.strip().splitlines()[-1]) if out.strip() else {})
        return said[1], said[0]
    except subprocess.TimeoutExpired as error:
        raise TookTooLong(f"{pathlib.Path(str(error.cmd[0])).name} took longer than {timeout_s} s") from error
    finally:
        for end in ends:
            finish(end)


def children():
    """Processes whose parent is this one."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # The name in brackets may hold anything.
            words = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            if int(words[1]) == os.getpid():
                found.append(int(folder.name))
    return found


def end_children():
    """Ends all processes that are still below this one, by their ids: first asked, then not."""
    for asked, patience_s in ((signal.SIGTERM, 3), (signal.SIGKILL, 10)):
        until = time.monotonic() + patience_s
        told = set()
        while left := children():
            for process in left:
                with contextlib.suppress(OSError):
                    if process not in told:
                        os.kill(process, asked)
                        told.add(process)
                    os.waitpid(process, os.WNOHANG)
            if time.monotonic() > until:
                break
            time.sleep(0.02)


def shared_files():
    """Files in shared memory of this user, by name."""
    found = set()
    with contextlib.suppress(OSError):
        for file in SHARED.iterdir():
            with contextlib.suppress(OSError):
                if file.lstat().st_uid == os.getuid():
                    found.add(file.name)
    return found


def in_use():
    """Names of files in shared memory that some process has mapped or open."""
    names = set()
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            for line in (folder / "maps").read_text(errors="replace").splitlines():
                names.add(line.partition("/dev/shm/")[2].split(" ")[0])
        with contextlib.suppress(OSError):
            for link in (folder / "fd").iterdir():
                with contextlib.suppress(OSError):
                    names.add(os.readlink(link).partition("/dev/shm/")[2].split(" ")[0])
    # A file in a folder of /dev/shm stands for the folder.
    return {name.split("/")[0] for name in names if name}


@contextlib.contextmanager
def tidied():
    """Whatever happens in it: afterwards no process is left, and no file in shared memory."""
    before = shared_files()
    try:
        yield
    finally:
        end_children()
        left = {name for name in shared_files() - before if THEIRS.match(name)}
        for name in left - in_use() if left else ():
            with contextlib.suppress(OSError):
                (SHARED / name).unlink()


class Rounds:
    """Rounds that take turns, as many as are wanted and as time allows: none is begun that would probably end too late."""

    def __init__(self, wanted, budget_s, spent_s=0.0):
        self.wanted, self.budget_s, self.done = wanted, budget_s, 0
        self.from_s = time.monotonic() - spent_s
        self.began_s = time.monotonic()

    def __iter__(self):
        for number in range(self.wanted):
            now = time.monotonic()
            each_s = (now - self.began_s) / number if number else 0
            if now - self.from_s + each_s > self.budget_s and number:
                print(f"{number} rounds in {now - self.began_s:.0f} s: no time for another within {self.budget_s} s", flush=True)
                return
            yield number
            self.done = number + 1


class Progress:
    """A line for each thing that is measured: which, how far, since when."""

    def __init__(self, total):
        self.total, self.at, self.from_s = total, 0, time.monotonic()

    def say(self, what):
        self.at += 1
        spent_s = time.monotonic() - self.from_s
        print(f"[{self.at}/{self.total}, {spent_s:.0f} s] {what}", flush=True)
