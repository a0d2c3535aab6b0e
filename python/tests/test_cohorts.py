"""Several ranks as one publisher or subscriber, in threads and in processes; and processes that are lost."""

import signal
import threading

import flexpath
import numpy as np
import pytest
from children import eventually

#: A publisher rank of three, and what it puts.
RANK = """
import sys
import flexpath, numpy
with flexpath.publish(sys.argv[1], cohort="environment", min_subscribers=1) as publisher:
    rank = int(sys.argv[2])
    for number in range(int(sys.argv[3])):
        with publisher.step() as step:
            step.put("x", numpy.full(4, 10 * rank + number), start=(4 * rank,), shape=(12,))
    if len(sys.argv) > 4:
        print("published")
        sys.stdin.readline()
"""

#: A publisher that begins with a step, publishes some, and stays.
NUMBERS = """
import sys
import flexpath
first, count = map(int, sys.argv[2:])
with flexpath.publish(sys.argv[1], first_step=first, min_subscribers=1) as publisher:
    for number in range(first, first + count):
        with publisher.step() as step:
            step["x"] = number
    print("published")
    sys.stdin.readline()
"""

#: A member of a set of workers, which takes a step and stays.
MEMBER = """
import sys
import flexpath
subscriber = flexpath.subscribe(sys.argv[1], share="workers")
step = subscriber.next_step(60.0)
print(int(step["x"]))
sys.stdin.readline()
"""


def each_in_a_thread(function, count):
    """What a function gives for each of so many ranks, each in a thread."""
    found = [None] * count

    def run(rank):
        found[rank] = function(rank)

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    return found


class Communicator:
    """What the package uses of a communicator of mpi4py, between threads."""

    def __init__(self, rank, everybody, barrier):
        self.rank, self.everybody, self.barrier = rank, everybody, barrier

    def Get_rank(self):
        return self.rank

    def Get_size(self):
        return len(self.everybody)

    def Allgather(self, own, everybody):
        self.everybody[self.rank] = bytes(own)
        self.Barrier()
        everybody[:] = b"".join(self.everybody)
        self.Barrier()

    def Barrier(self):
        self.barrier.wait(30.0)


@pytest.mark.parametrize("is_by_communicator", [False, True])
def test_ranks_in_threads(stream, is_by_communicator):
    everybody, barrier = [None] * 3, threading.Barrier(3)

    def publish(rank):
        cohort = Communicator(rank, everybody, barrier) if is_by_communicator else (rank, 3)
        with flexpath.publish(stream, cohort=cohort, min_subscribers=1) as publisher:
            for number in range(3):
                with publisher.step() as step:
                    step.put("x", np.full(4, 10 * rank + number), start=(4 * rank,), shape=(12,))
                    step.put("rows", np.full((rank, 2), rank), joined=True)
                    step.put("mine", np.full(rank + 1, rank), local=True)
                    step.put("own", float(rank), local=True)
                    step["time"], step["title"] = 0.5 * number, "a title"
                    if rank == 1:
                        with step.loan("lent", (2,), "i4", local=True) as lent:
                            lent[...] = number

    def take(rank):
        found = []
        with flexpath.subscribe(stream, cohort=(rank, 2)) as subscriber:
            for step in subscriber:
                assert step["rows"][...].tolist() == [[1, 1], [2, 2], [2, 2]]
                assert step["mine"].rank(2).tolist() == [2, 2, 2] and step["mine"].block(1, 0).tolist() == [1, 1]
                assert [block[:2] for block in step["mine"].blocks()] == [(0, 0), (1, 0), (2, 0)]
                assert step["mine"][...].tolist() == [0, 1, 1, 2, 2, 2]
                assert step["own"][...].tolist() == [0.0, 1.0, 2.0]
                assert (float(step["time"]), str(step["title"])) == (0.5 * step.number, "a title")
                assert step["lent"][...].tolist() == [step.number] * 2
                found.append(step["x"][6 * rank : 6 * rank + 6].tolist())
        return found

    publishing = threading.Thread(target=each_in_a_thread, args=(publish, 3))
    publishing.start()
    found = each_in_a_thread(take, 2)
    publishing.join(60.0)
    for number in range(3):
        whole = np.repeat([number, 10 + number, 20 + number], 4).tolist()
        assert found[0][number] + found[1][number] == whole


def test_a_rank_says_where_its_block_lies(stream):
    def publish(rank):
        with flexpath.publish(stream, cohort=(rank, 2)) as publisher, publisher.step() as step:
            with pytest.raises(flexpath.Misuse, match="this cohort has 2 ranks: say where this block lies"):
                step["x"] = np.zeros(3)
            return True

    assert each_in_a_thread(publish, 2) == [True, True]


def test_ranks_in_processes(start_program, stream):
    for rank in range(3):
        start_program(RANK, stream, str(rank), "3", environment={"FLEXPATH_RANK": str(rank), "FLEXPATH_SIZE": "3"})
    with flexpath.subscribe(stream) as subscriber:
        found = [step["x"][...].tolist() for step in subscriber]
    assert found == [np.repeat([number, 10 + number, 20 + number], 4).tolist() for number in range(3)]


def test_a_rank_that_is_lost_ends_the_stream(start_program, stream):
    ranks = [
        start_program(
            RANK, stream, str(rank), "1", "stay", environment={"FLEXPATH_RANK": str(rank), "FLEXPATH_SIZE": "3"}
        )
        for rank in range(3)
    ]
    with flexpath.subscribe(stream) as subscriber:
        subscriber.next_step(60.0).release()
        for rank in ranks:
            assert rank.line() == "published"
        ranks[1].signal(signal.SIGKILL)
        for _ in range(2):
            with pytest.raises(flexpath.Lost, match="rank 1") as lost:
                subscriber.next_step(60.0)
        assert isinstance(lost.value, ConnectionError)
        with pytest.raises(flexpath.Lost):
            list(subscriber)


def test_a_publisher_that_comes_back(start_program, stream):
    first = start_program(NUMBERS, stream, "0", "3")
    with flexpath.subscribe(stream, await_restart=60.0) as subscriber:
        found, epochs = [], set()
        for step in subscriber:
            found.append(int(step["x"]))
            epochs.add(step.epoch)
            if len(found) == 3:
                assert first.line() == "published"
                first.signal(signal.SIGKILL)
                first.process.wait(60.0)
                second = start_program(NUMBERS, stream, "3", "2")
            if len(found) == 5:
                second.say("end")
        assert found == [0, 1, 2, 3, 4] and len(epochs) == 2
        assert {"awaiting_restart", "restarted"} <= {event["event"] for event in subscriber.events()}


def test_what_a_worker_that_is_killed_had_comes_to_another(start_program, stream):
    with flexpath.publish(stream) as publisher:
        member = start_program(MEMBER, stream)
        assert publisher.wait_for_subscriptions(1, 60.0) == 1
        with publisher.step() as step:
            step["x"] = 7
        assert member.line() == "7"
        with flexpath.subscribe(stream, share="workers") as other:
            member.signal(signal.SIGKILL)
            with other.next_step(60.0) as step:
                assert step.is_redelivered and int(step["x"]) == 7


def test_without_redelivery_it_is_lost(start_program, stream):
    share = flexpath.Share("workers", redeliver=False)
    with flexpath.publish(stream) as publisher:
        member = start_program(MEMBER.replace('"workers"', 'flexpath.Share("workers", redeliver=False)'), stream)
        assert publisher.wait_for_subscriptions(1, 60.0) == 1
        with publisher.step() as step:
            step["x"] = 7
        assert member.line() == "7"
        with flexpath.subscribe(stream, share=share) as other:
            member.signal(signal.SIGKILL)
            eventually(lambda: any(e["event"] == "member_left" for e in publisher.events()), "its loss is noticed")
            with publisher.step() as step:
                step["x"] = 8
            with other.next_step(60.0) as step:
                assert int(step["x"]) == 8 and not step.is_redelivered
                with pytest.raises(flexpath.Misuse, match="redeliver"):
                    step.give_back()
