"""Steering: parameters that a simulation declares, and values of them that subscribers ask for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._errors import Misuse

#: What a parameter takes: a range of real or of whole numbers, `bool`, `str`, or None where it has no value.
Takes = tuple[float, float] | tuple[int, int] | type[bool] | type[str] | None


@dataclass(frozen=True, slots=True)
class Parameter:
    """What can be asked for, with what it is for people: its unit, and what it changes; at most 255 bytes.

    >>> import flexpath
    >>> level = flexpath.Parameter((0.0, 9.0), "of the tank, in m")
    >>> with flexpath.publish("doc-parameter", parameters={"level": level, "stop": None}):
    ...     flexpath.parameters("doc-parameter")["level"]
    Parameter(takes=(0.0, 9.0), text='of the tank, in m')
    """

    #: What it takes.
    takes: Takes
    #: What it is.
    text: str = ""


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


def parameters(given: Mapping[str, Takes | Parameter]) -> list[tuple[Any, ...]]:
    """Parameters as the library takes them."""
    described = {name: one if isinstance(one, Parameter) else Parameter(one) for name, one in given.items()}
    return [(name, *_kind(name, one.takes), one.text) for name, one in described.items()]


#: A parameter as the library tells it: name, kind, the range of reals, that of whole numbers, and text.
Listed = tuple[str, str, tuple[float, float], tuple[int, int], str]


def listed(known: list[Listed]) -> dict[str, Parameter]:
    """Parameters as the library tells them."""
    return {name: Parameter(_takes(kind, reals, integers), text) for name, kind, reals, integers, text in known}


def _takes(kind: str, reals: tuple[float, float], integers: tuple[int, int]) -> Takes:
    if kind == "integer":
        return integers
    if kind == "real":
        return reals
    return {"bool": bool, "text": str}.get(kind)


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
