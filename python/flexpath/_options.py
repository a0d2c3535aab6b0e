"""Options, from what a program says to what the library takes."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import _native
from ._errors import Misuse
from ._records import RecordType


@dataclass(frozen=True)
class EveryStep:
    """The subscriber gets every step. The publisher waits for it, at most `max_wait` seconds."""

    max_wait: float = 60.0


@dataclass(frozen=True)
class EveryKth:
    """Every k-th step, evenly spaced. The publisher waits for it, at most `max_wait` seconds."""

    every: int
    max_wait: float = 60.0


@dataclass(frozen=True)
class WaitAtMost:
    """The publisher waits at most `wait` seconds for room, then the new step is dropped."""

    wait: float


@dataclass(frozen=True)
class DropOldest:
    """The oldest step that waits gives way to the new one."""


@dataclass(frozen=True)
class DropNewest:
    """The new step is dropped where there is no room."""


@dataclass(frozen=True)
class LatestOnly:
    """Of the steps that wait only the newest is kept."""


Policy = EveryStep | EveryKth | WaitAtMost | DropOldest | DropNewest | LatestOnly

_BY_NAME: dict[str, Policy] = {
    "every_step": EveryStep(),
    "drop_oldest": DropOldest(),
    "drop_newest": DropNewest(),
    "latest_only": LatestOnly(),
}


@dataclass(frozen=True)
class Share:
    """Membership of a set of workers that divide the steps of a stream between them.

    `on_demand`: who is ready gets the next step; otherwise members take turns. `redeliver`: a step whose worker died
    or gave it back goes to another one.
    """

    name: str
    on_demand: bool = True
    redeliver: bool = True


def policy(given: str | Policy) -> tuple[Any, ...]:
    """A policy as the library takes it."""
    if isinstance(given, str):
        if given not in _BY_NAME:
            known = ", ".join([*_BY_NAME, "flexpath.EveryKth(k)", "flexpath.WaitAtMost(seconds)"])
            raise Misuse(f"policy={given!r}: there is no such policy; there are: {known}")
        given = _BY_NAME[given]
    match given:
        case EveryStep(max_wait):
            return ("every_step", float(max_wait))
        case EveryKth(every, max_wait):
            return ("every_kth", int(every), float(max_wait))
        case WaitAtMost(wait):
            return ("wait_at_most", float(wait))
        case DropOldest():
            return ("drop_oldest",)
        case DropNewest():
            return ("drop_newest",)
        case LatestOnly():
            return ("latest_only",)
    raise Misuse(f"policy={given!r}: give the name of a policy, or one such as flexpath.EveryKth(10)")


def share(given: str | Share) -> tuple[str, bool, bool]:
    """A work-sharing set as the library takes it."""
    of = Share(given) if isinstance(given, str) else given
    return (of.name, of.on_demand, of.redeliver)


def cohort(given: Any, options: dict[str, Any]) -> tuple[int, int]:
    """Rank and size of the own cohort; a communicator of mpi4py brings its collectives."""
    if given is None:
        return (0, 1)
    if isinstance(given, str):
        if given != "environment":
            raise Misuse(f'cohort={given!r}: give "environment", (rank, size), or a communicator of mpi4py')
        given = _native.cohort_from_environment()
    if hasattr(given, "Get_rank"):
        from .mpi import options_of

        options.update(options_of(given))
        rank, size = options["cohort"]
        return (int(rank), int(size))
    if not (isinstance(given, Sequence) and len(given) == 2):
        raise Misuse(f'cohort={given!r}: give "environment", (rank, size), or a communicator of mpi4py')
    rank, size = given
    options["cohort"] = (int(rank), int(size))
    return (int(rank), int(size))


def derivations(given: Mapping[str, str | tuple[str, str]]) -> list[tuple[str, str, str]]:
    """Derived variables: each a text, or a text and the side on which it is derived."""
    return [
        (name, of, "auto") if isinstance(of, str) else (name, of[0], of[1])
        for name, of in given.items()
    ]


def common(options: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Options that are passed on as they are; None is what is not said."""
    for word, value in given.items():
        if value is not None:
            options[word] = os.fspath(value) if isinstance(value, os.PathLike) else value


def types(given: Mapping[str, RecordType]) -> list[tuple[str, Any]]:
    """Types of records that variables must provide."""
    return [(variable, of.schema) for variable, of in given.items()]


def names(given: str | Sequence[str]) -> list[str]:
    """Names of variables; one may stand alone."""
    return [given] if isinstance(given, str) else list(given)
