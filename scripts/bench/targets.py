"""Which targets were met before: a run that misses one of them has failed. benches/spine/targets.rs does the same."""

import json
import pathlib
import sys

FILE = pathlib.Path(__file__).resolve().parents[2] / "docs/performance/targets.json"


def judge(listed, verdicts):
    """What was met before and is missed now, and what is met now and not listed. What was not measured says nothing."""
    fallen = [what for what, verdict in verdicts if verdict == "missed" and what in listed]
    risen = [what for what, verdict in verdicts if verdict == "met" and what not in listed]
    return fallen, risen


def keep(bench, verdicts):
    """Prints both; whether nothing has fallen."""
    fallen, risen = judge(json.loads(FILE.read_text())[bench], verdicts)
    for what in risen:
        print(f"met now, and not listed in {FILE}: {what}")
    for what in fallen:
        print(f"MISSED, and met before ({FILE}): {what}")
    return not fallen


if __name__ == "__main__":
    # For the test of this file: a list and verdicts as JSON, and what has fallen and risen as JSON.
    print(json.dumps(judge(*json.loads(sys.argv[1]))))
