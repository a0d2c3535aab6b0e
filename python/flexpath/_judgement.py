"""What is told with a step of why its subscriber gets it."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import _native

#: In the year 2255.
LAST_MICROS = 1 << 53


@dataclass(frozen=True, slots=True)
class Measured:
    """A number that the condition of a subscriber looks at."""

    #: What was measured, as the condition writes it: "max(T[0:64, :])".
    measure: str
    #: The number, exactly; truth values are 0 and 1. Of a quantile it is what that is at least, and at most. None where
    #: no rank put an element of it.
    number: int | float | tuple[float, float] | None
    #: Where a least or a greatest element of a global array is. Of several it is the first in row-major order.
    place: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Judgement:
    """Why a subscriber with a condition gets a step: the numbers, or why it could not be judged.

    >>> import flexpath
    >>> with flexpath.publish("doc-judgement") as out:
    ...     with flexpath.subscribe("doc-judgement", when="rises(max(T) > 9)") as subscriber:
    ...         for top in (4.0, 11.0, 12.0):
    ...             with out.step() as step:
    ...                 step["T"] = [1.0, top]
    ...         with subscriber.next_step() as step:
    ...             step.number, step.judgement.measured[0]
    (1, Measured(measure='max(T)', number=11.0, place=(1,)))
    """

    #: What was measured, in the order of the condition's text.
    measured: tuple[Measured, ...]
    #: Why the step was not judged: it comes all the same. None where it was.
    unjudged: str | None
    #: When the publisher decided the step, by the clock of its rank 0, in UTC.
    decided_at: datetime


def judgement(measured: "list[_native._Measured]", unjudged: str | None, micros: int) -> Judgement:
    """Make a judgement of what the library tells; the time is in microseconds since 1970."""
    # A clock may say what no calendar has.
    decided_at = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=min(micros, LAST_MICROS))
    return Judgement(tuple(Measured(*one) for one in measured), unjudged, decided_at)
