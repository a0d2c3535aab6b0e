"""Flexpath: attach to a running simulation, and take just the slices that you ask for.

>>> import flexpath
>>> with flexpath.publish("doc") as out, flexpath.subscribe("doc") as subscriber:
...     with out.step() as step:
...         step["temperature"] = [300.0, 301.0, 302.0]
...     with subscriber.next_step() as step:
...         step["temperature"][1:].tolist()
[301.0, 302.0]
"""

import json
import os
from typing import Any

from . import _native
from ._errors import (
    Denied,
    EndOfStream,
    FlexpathError,
    Incompatible,
    Io,
    Lost,
    Misuse,
    NotTaken,
    PeerMisbehaved,
    TimedOut,
)
from ._judgement import Judgement, Measured
from ._native import limit_process_bytes
from ._options import DropNewest, DropOldest, EveryKth, EveryStep, LatestOnly, Share, WaitAtMost
from ._publish import Publisher, StepWriter, publish
from ._records import RecordType
from ._steering import Parameter, Request
from ._step import Array, Step
from ._subscribe import Subscriber, subscribe

__version__ = _native.__version__

__all__ = [
    "Array",
    "Denied",
    "DropNewest",
    "DropOldest",
    "EndOfStream",
    "EveryKth",
    "EveryStep",
    "FlexpathError",
    "Incompatible",
    "Io",
    "Judgement",
    "LatestOnly",
    "Lost",
    "Measured",
    "Misuse",
    "NotTaken",
    "Parameter",
    "PeerMisbehaved",
    "Publisher",
    "RecordType",
    "Request",
    "Share",
    "Step",
    "StepWriter",
    "Subscriber",
    "TimedOut",
    "WaitAtMost",
    "find",
    "limit_process_bytes",
    "parameters",
    "publish",
    "request",
    "status",
    "streams",
    "subscribe",
]


def streams(rendezvous: str | os.PathLike[str] | None = None) -> list[dict[str, str]]:
    """The entries of the rendezvous: name, epoch and contact. Nobody is asked whether they are alive."""
    place = None if rendezvous is None else os.fspath(rendezvous)
    return [{"name": name, "epoch": epoch, "contact": at} for name, epoch, at in _native.streams(place)]


def request(
    stream: str, parameter: str, value: Any = True, *, timeout: float = 10.0, now: bool = False, **options: Any
) -> int:
    """Ask a simulation for a value of a parameter, by a subscriber of its own. See `Subscriber.request`."""
    with subscribe(stream, variables=[], policy="drop_oldest", open_timeout=timeout, **options) as subscriber:
        return subscriber.request(parameter, value, timeout=timeout, now=now)


def parameters(stream: str, *, timeout: float = 10.0, **options: Any) -> dict[str, Parameter]:
    """What a simulation lets be asked for, by name, by a subscriber of its own. See `Subscriber.parameters`."""
    with subscribe(stream, variables=[], policy="drop_oldest", open_timeout=timeout, **options) as subscriber:
        return subscriber.parameters(timeout=timeout)


def status(stream: str, *, timeout: float = 2.0, **options: Any) -> dict[str, Any]:
    """How the ranks of a stream and of its subscribers are: what each waits for, and who does not answer."""
    found: dict[str, Any] = json.loads(_native.status(stream, timeout, options))
    return found


def find(of: RecordType, *, timeout: float = 5.0, **options: Any) -> dict[str, list[str] | str]:
    """The streams that provide records of a type: the variables that do, or why there are none."""
    found, others = _native.find(of.schema, timeout, options)
    return {**dict(found), **dict(others)}
