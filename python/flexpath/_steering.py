"""Steering: parameters that a simulation declares, and values of them that subscribers ask for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._errors import Misuse

#: What a parameter takes: a range of real or of whole numbers, `bool`, `str`, or None where it has no value.
Takes = tuple[float, float] | tuple[int, int] | type[bool] | type[str] | None


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody asks of the simulation at a step. All its ranks see it at the same one.

    >>> import flexpath, threading
    >>> with flexpath.publish("doc-request", parameters={"level": (0, 9)}) as out:
    ...     def simulate():
    ...         seen = []
    ...         while not seen:
    ...             with out.step() as step:
    ...                 seen += step.requests
    ...         print(seen[0].parameter, seen[0].value)
    ...     thread = threading.Thread(target=simulate)
    ...     thread.start()
    ...     step = flexpath.request("doc-request", "level", 7)
    ...     thread.join()
    level 7
    """

    #: What is asked for.
    parameter: str
    #: The value, of the parameter's kind; True where it has none.
    value: bool | int | float | str
    #: Who asks: the name of the subscriber.
    by: str
    #: Its place among those of the step.
    index: int


def parameters(given: Mapping[str, Takes]) -> list[tuple[Any, ...]]:
    """Parameters as the library takes them."""
    return [(name, *_kind(name, takes)) for name, takes in given.items()]


def _kind(name: str, takes: Takes) -> tuple[Any, ...]:
    if takes is None:
        return ("signal",)
    if takes is bool or takes is str:
        return ("bool",) if takes is bool else ("text",)
    if isinstance(takes, tuple) and len(takes) == 2:
        least, greatest = takes
        if not isinstance(least, (bool, str)) and not isinstance(greatest, (bool, str)):
            if not least <= greatest:
                raise Misuse(f"parameters: {name!r}: {takes!r}: no number lies between these")
            if type(least) is int and type(greatest) is int:
                return ("integer", least, greatest)
            return ("real", float(least), float(greatest))
    raise Misuse(
        f"parameters: {name!r}: {takes!r}: give (least, greatest), as two ints or two floats, or bool, str, or None "
        "for one without a value"
    )
