"""What can go wrong, by whose fault it is. The texts are those of the library."""


class FlexpathError(Exception):
    """Any error of this package."""


class Misuse(FlexpathError, ValueError):
    """The call cannot be right, whatever the others do: it is this program's to change."""


class Incompatible(FlexpathError, TypeError):
    """What is published is not what was asked for, and has no conversion to it."""


class Lost(FlexpathError, ConnectionError):
    """A process that is needed is gone, or the way to it."""


class PeerMisbehaved(FlexpathError):
    """Another process sent what the protocol does not allow."""


class Io(FlexpathError, OSError):
    """The system refused something: a file, a descriptor, memory."""


class TimedOut(FlexpathError, TimeoutError):
    """The time was over. The text says what was waited for."""


class Denied(FlexpathError, PermissionError):
    """The owner of the stream does not let this program do that."""


class NotTaken(FlexpathError):
    """The simulation does not take what it was asked for. The text says who declined it, or what it takes."""


class EndOfStream(FlexpathError, EOFError):
    """The publisher closed the stream: there are no more steps."""

    def __init__(self, text: str, *, last: int | None = None, skipped: int = 0) -> None:
        super().__init__(text)
        #: The last step that was given to this subscriber.
        self.last = last
        #: Steps after it that it did not get.
        self.skipped = skipped
