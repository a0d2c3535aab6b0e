"""The command ``flexpath``, as ``python -m flexpath`` and as the program that the wheel installs."""

import signal
import sys

from flexpath import _native


def main() -> None:
    """Run the command with the arguments of this process, and exit with its status."""
    # Python only notes a signal until its own code goes on, and none does while the command runs.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_native.main(sys.argv[1:]))


if __name__ == "__main__":
    main()
