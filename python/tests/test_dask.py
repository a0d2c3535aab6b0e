"""Dask workers in processes of their own: one step among many workers, and many steps among workers."""

import os
import threading

import distributed
import numpy
import pytest
import xarray
from children import eventually
from numpy.testing import assert_array_equal

import flexpath
import flexpath.dask

TIMEOUT = 60.0


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The rendezvous of this module: workers live as long as it does."""
    return str(tmp_path_factory.mktemp("rendezvous"))


@pytest.fixture(autouse=True)
def rendezvous(monkeypatch, place):
    """Instead of one for each test."""
    monkeypatch.setenv("FLEXPATH_RENDEZVOUS", place)


@pytest.fixture(scope="module")
def cluster(place):
    """Two worker processes."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("FLEXPATH_RENDEZVOUS", place)
        options = {"n_workers": 2, "threads_per_worker": 2, "processes": True, "dashboard_address": ":0"}
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
            yield client


def content(number):
    random = numpy.random.default_rng(number)
    return {"temperature": random.random((400, 300)), "density": random.random((50, 4, 6)).astype("f4")}


def put(out, number):
    with out.step() as s:
        for name, array in content(number).items():
            s[name] = array
        s.put("mine", numpy.arange(3), local=True)
        s["time"] = float(number)


def held_elsewhere(client):
    """How many steps each worker holds."""

    def count():
        from flexpath import _attach

        return len(_attach._leases._by_key)

    return sorted(client.run(count).values())


def test_chunks_are_fetched_by_the_workers(cluster):
    with flexpath.publish("heat", reserve_steps=2) as out, flexpath.subscribe("heat") as subscriber:
        for number in range(3):
            put(out, number)
            with subscriber.next_step(timeout=TIMEOUT) as step:
                arrays = flexpath.dask.from_step(step, chunks={"temperature": (100, 100), "density": (10, 4, 6)})
                assert set(arrays) == {"temperature", "density"}
                before = subscriber.statistics()["payload_bytes"]
                expected = content(number)
                warm, dense = arrays["temperature"], arrays["density"]
                product, spread = cluster.gather(cluster.compute([warm.T @ warm, dense.std(axis=0)]))
                numpy.testing.assert_allclose(product, expected["temperature"].T @ expected["temperature"])
                numpy.testing.assert_allclose(spread, expected["density"].std(axis=0), rtol=1e-4)
                part = arrays["temperature"][37:391:7, ::3].compute()
                assert_array_equal(part, expected["temperature"][37:391:7, ::3])
                assert subscriber.statistics()["payload_bytes"] == before, "nothing goes through the client"
                # At most two steps of a stream, and both workers have come to this one.
                counts = held_elsewhere(cluster)
                assert len(counts) == 2 and 1 <= counts[0] <= counts[1] <= 2


def test_threads_use_the_step_itself(cluster):
    # Without a reserve nobody else could come to it.
    with flexpath.publish("alone") as out, flexpath.subscribe("alone") as subscriber:
        put(out, 1)
        with subscriber.next_step(timeout=TIMEOUT) as step:
            temperature = flexpath.dask.from_step(step, "temperature", chunks=(64, 300))
            found = temperature.sum(axis=0).compute(scheduler="threads")
            numpy.testing.assert_allclose(found, content(1)["temperature"].sum(axis=0))


def test_workers_in_this_process_use_the_step_itself():
    options = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        with flexpath.publish("inside") as out, flexpath.subscribe("inside") as subscriber:
            put(out, 1)
            with subscriber.next_step(timeout=TIMEOUT) as step:
                temperature = flexpath.dask.from_step(step, "temperature", chunks=(64, 300))
                found = client.compute(temperature.sum(axis=0)).result(TIMEOUT)
                numpy.testing.assert_allclose(found, content(1)["temperature"].sum(axis=0))


def test_a_step_that_is_gone_says_to_keep_a_reserve(cluster):
    with flexpath.publish("gone", reserve_steps=1) as out, flexpath.subscribe("gone") as subscriber:
        put(out, 0)
        with subscriber.next_step(timeout=TIMEOUT) as step:
            temperature = flexpath.dask.from_step(step, "temperature", timeout=5.0)
            put(out, 1)
            subscriber.next_step(timeout=TIMEOUT).release()
            with pytest.raises(flexpath.dask.StepGone, match="step 0 of stream 'gone'.*step 1.*reserve_steps"):
                temperature.sum().compute()
            # The client's own step is as good as before.
            assert_array_equal(temperature.compute(scheduler="threads"), content(0)["temperature"])


def test_what_cannot_be_an_array_is_refused(cluster):
    with flexpath.publish("odd", reserve_steps=1) as out, flexpath.subscribe("odd") as subscriber:
        put(out, 0)
        with subscriber.next_step(timeout=TIMEOUT) as step:
            with pytest.raises(flexpath.Misuse, match="'mine'.*local"):
                flexpath.dask.from_step(step, "mine")
            time = flexpath.dask.from_step(step, "time")
            assert time.shape == () and float(time.compute()) == 0.0


def test_what_is_derived_is_derived_by_the_worker(cluster):
    derive = {"double": ("temperature | compute(2 * temperature)", "subscriber")}
    publishing = flexpath.publish("derived", reserve_steps=1)
    with publishing as out, flexpath.subscribe("derived", derive=derive) as subscriber:
        put(out, 0)
        with subscriber.next_step(timeout=TIMEOUT) as step:
            double = flexpath.dask.from_step(step, "double", options={"derive": derive})
            assert_array_equal(double[::7].compute(), 2 * content(0)["temperature"][::7])
            with pytest.raises(flexpath.Misuse, match="'double' is not in the reserve"):
                flexpath.dask.from_step(step, "double", chunks=100).compute()


def test_a_dataset_in_chunks_is_computed_by_the_workers(cluster):
    with flexpath.publish("plate", reserve_steps=1) as out, flexpath.subscribe("plate") as subscriber:
        put(out, 5)
        with subscriber.next_step(timeout=TIMEOUT) as step:
            ds = xarray.open_dataset(step, engine="flexpath", chunks="auto")
            mean = float(ds["temperature"].mean().compute())
            assert mean == pytest.approx(content(5)["temperature"].mean())


def publish_all(stream, steps, done):
    with flexpath.publish(stream, open_timeout=TIMEOUT) as out:
        joined = []

        def both_are_there():
            joined.extend(event for event in out.events() if event["event"] == "member_joined")
            return len(joined) == 2

        eventually(both_are_there, "both workers are members of the set")
        for number in range(steps):
            put(out, number)
    done.append(stream)


@pytest.fixture
def published():
    """Publishes so many steps in a thread, as soon as both workers are there, and sees that it comes to its end."""
    threads, done = [], []

    def start(stream, steps):
        threads.append(threading.Thread(target=publish_all, args=(stream, steps, done)))
        threads[-1].start()

    yield start
    for thread in threads:
        thread.join(TIMEOUT)
    assert len(done) == len(threads)


def test_each_step_goes_to_one_worker(cluster, published):
    published("shared", 40)

    def work(step):
        return os.getpid(), float(step["temperature"][::2].sum())

    found = dict(flexpath.dask.map_steps(cluster, "shared", work))
    assert sorted(found) == list(range(40))
    for number, (_, total) in found.items():
        assert total == pytest.approx(content(number)["temperature"][::2].sum())
    assert len({process for process, _ in found.values()}) == 2


@pytest.mark.parametrize("deadly", [7, 19])
def test_a_step_of_a_worker_that_dies_goes_to_another(cluster, published, deadly):
    published("deadly", 20)

    def work(step):
        if step.number == deadly and not step.is_redelivered:
            os.kill(os.getpid(), 9)
        return step.is_redelivered

    found = list(flexpath.dask.map_steps(cluster, "deadly", work, share="those that die"))
    assert sorted(number for number, _ in found) == list(range(20))
    assert dict(found)[deadly], "it was given again"
    cluster.wait_for_workers(2, timeout=TIMEOUT)


def test_what_a_function_raises_is_raised_here(cluster, published):
    published("wrong", 10)

    def work(step):
        if step.number == 3:
            raise ValueError("no such thing")
        return step.number

    with pytest.raises(ValueError, match="no such thing") as raised:
        list(flexpath.dask.map_steps(cluster, "wrong", work))
    assert any("step 3 of 'wrong'" in note for note in raised.value.__notes__)


def test_who_has_seen_enough_leaves(cluster, published):
    published("long", 30)
    results = flexpath.dask.map_steps(cluster, "long", lambda step: step.number)
    assert 0 <= next(results)[0] <= 1
    results.close()
