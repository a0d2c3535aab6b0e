"""Waiting in an event loop: several streams in one loop, nothing lost by who gives up, and a loop that goes on."""

import asyncio
import random
import threading

import flexpath
import numpy as np
import pytest

#: A publisher of many steps, each with its number.
COUNTS = """
import sys
import flexpath
with flexpath.publish(sys.argv[1], min_subscribers=1) as publisher:
    for number in range(int(sys.argv[2])):
        with publisher.step() as step:
            step["x"] = [number, 10 * number]
"""

#: A publisher of two steps with 64 MiB each, which stays.
BIG = """
import sys
import flexpath, numpy
with flexpath.publish(sys.argv[1], transports="tcp", min_subscribers=1) as publisher:
    for number in range(2):
        with publisher.step() as step:
            step.put("x", number + numpy.arange(8 << 20, dtype="f8").reshape(8, -1))
    sys.stdin.readline()
"""


def run(task, deadline=60.0):
    """What a task gives; it ends before the deadline."""

    async def bounded():
        return await asyncio.wait_for(task, deadline)

    return asyncio.run(bounded())


def test_two_streams_in_one_loop(start_program, stream):
    names = [f"{stream}-{at}" for at in range(2)]
    for name, count in zip(names, ("50", "70"), strict=True):
        start_program(COUNTS, name, count)

    async def follow(name):
        found = []
        async for step in flexpath.subscribe(name):
            value = await step["x"].fetch(np.s_[1:])
            found.append((step.number, value.tolist()))
        return found

    async def both():
        return await asyncio.gather(*map(follow, names))

    first, second = run(both())
    assert first == [(number, [10 * number]) for number in range(50)]
    assert second == [(number, [10 * number]) for number in range(70)]


def test_a_loop_releases_the_step_before(stream):
    async def follow():
        with flexpath.publish(stream) as publisher, flexpath.subscribe(stream) as subscriber:
            publisher.step().end()
            publisher.step().end()
            before = None
            async for step in subscriber:
                assert not step.is_released
                if before is not None:
                    assert before.is_released and step.number == 1
                    break
                before = step

    run(follow())


def test_who_is_cancelled_loses_no_step(pair):
    chance, steps = random.Random(7), 300

    async def follow():
        found = []
        for number in range(steps):
            waiting = asyncio.create_task(pair.subscriber.next_step_async(30.0))
            for _ in range(chance.randrange(4)):
                await asyncio.sleep(0)
            pair.put(number)
            for _ in range(chance.randrange(6)):
                await asyncio.sleep(0)
            waiting.cancel()
            try:
                step = await waiting
            except asyncio.CancelledError:
                step = await pair.subscriber.next_step_async(30.0)
            with step:
                found.append((step.number, int(step["x"])))
        return found

    assert run(follow()) == [(number, number) for number in range(steps)]


def test_who_waits_no_longer_loses_no_step(pair):
    async def follow():
        for number in range(3):
            with pytest.raises(flexpath.TimedOut, match="no step came within 0.05 s"):
                await pair.subscriber.next_step_async(0.05)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(pair.subscriber.next_step_async(), 0.05)
            pair.put(number)
            with await pair.subscriber.next_step_async(30.0) as step:
                assert int(await step["x"].fetch()) == number
        pair.put("a text")
        with await pair.subscriber.next_step_async(30.0) as step:
            assert await step["x"].fetch() == "a text"

    run(follow())


def test_the_bound_of_a_loop(stream):
    async def follow():
        with flexpath.publish(stream), flexpath.subscribe(stream, step_timeout=0.05) as subscriber:
            with pytest.raises(flexpath.TimedOut):
                async for _ in subscriber:
                    pass

    run(follow())


def test_a_loop_ends_with_the_stream_or_as_the_subscriber_is_closed(stream):
    async def follow(subscriber):
        return [step.number async for step in subscriber]

    async def until_closed():
        with flexpath.publish(stream) as publisher, flexpath.subscribe(stream) as subscriber:
            following = asyncio.create_task(follow(subscriber))
            with publisher.step():
                pass
            while subscriber.statistics()["steps"] == 0:
                await asyncio.sleep(0)
            subscriber.close()
            return await following

    async def until_it_ends():
        publisher, subscriber = flexpath.publish(stream), flexpath.subscribe(stream)
        with publisher.step():
            pass
        closing = threading.Thread(target=publisher.close)
        closing.start()
        found = await follow(subscriber)
        closing.join(30.0)
        with pytest.raises(flexpath.EndOfStream) as end:
            await subscriber.next_step_async(1.0)
        assert end.value.last == 0
        return found

    assert run(until_closed()) == [0]
    assert run(until_it_ends()) == [0]


@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_a_fetch_that_is_cancelled_can_be_made_again(start_program, stream, transport):
    publisher = start_program(BIG.replace("tcp", transport), stream)

    async def follow():
        with flexpath.subscribe(stream, transports=transport) as subscriber:
            for number in range(2):
                step = await subscriber.next_step_async(60.0)
                for turns in (0, 1, 2, 5, 20):
                    fetching = asyncio.create_task(step["x"].fetch(np.s_[:, ::2]))
                    for _ in range(turns):
                        await asyncio.sleep(0)
                    fetching.cancel()
                    await asyncio.gather(fetching, return_exceptions=True)
                found = await step["x"].fetch()
                assert found[0, 0] == number and found[-1, -1] == number + (8 << 20) - 1
                part, whole = await asyncio.gather(step["x"].fetch(np.s_[3, ::7]), step["x"].fetch(np.s_[::-1]))
                assert np.array_equal(part, found[3, ::7]) and np.array_equal(whole, found[::-1])
                step.release()

    run(follow())
    publisher.say("end")
    assert publisher.finish().returncode == 0


def test_the_loop_goes_on_while_bytes_come(start_program, stream, capsys):
    publisher = start_program(BIG, stream)

    async def follow():
        loop, ticks = asyncio.get_running_loop(), []

        def tick():
            ticks.append(loop.time())
            timer[0] = loop.call_later(0.001, tick)

        with flexpath.subscribe(stream, transports="tcp") as subscriber:
            step = await subscriber.next_step_async(60.0)
            await step.load()
            timer = [loop.call_soon(tick)]
            began = loop.time()
            found = await step["x"].fetch()
            took = loop.time() - began
            timer[0].cancel()
            assert found[0, 1] == 1.0
        gaps = np.diff([began, *ticks, began + took])
        return took, len(ticks), max(gaps)

    took, ticks, gap = run(follow())
    with capsys.disabled():
        print(f"\n64 MiB over tcp in {1000 * took:.0f} ms: {ticks} ticks, at most {1000 * gap:.0f} ms apart", end="")
    assert ticks >= 3 and gap < max(0.7 * took, 0.05)
    publisher.say("end")


def test_one_loop_after_another(pair):
    async def one(number):
        pair.put(number)
        with await pair.subscriber.next_step_async(30.0) as step:
            return int(await step["x"].fetch())

    assert [run(one(number)) for number in range(5)] == list(range(5))


def test_a_loop_in_each_of_two_threads(stream):
    found = {}

    async def follow(name):
        with flexpath.publish(name) as publisher, flexpath.subscribe(name) as subscriber:
            for number in range(20):
                with publisher.step() as step:
                    step["x"] = number
                with await subscriber.next_step_async(30.0) as step:
                    found.setdefault(name, []).append(int(await step["x"].fetch()))

    threads = [threading.Thread(target=run, args=(follow(f"{stream}-{at}"),)) for at in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    assert list(found.values()) == [list(range(20))] * 2
