"""What is put is what is got: every kind of variable, every element type, and all that is said of a variable."""

import gc
import weakref

import flexpath
import numpy as np
import pytest
from ml_dtypes import bfloat16

#: Every element type.
DTYPES = [np.dtype(of) for of in [*"i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 ?".split(), bfloat16]]


def array_of(dtype):
    """Two rows of three, with the least and the greatest of the type in them."""
    if dtype.kind == "b":
        return np.array([[True, False, True], [False, False, True]])
    found = np.arange(6).reshape(2, 3).astype(dtype)
    if dtype.kind in "iu":
        found[0, 0], found[1, 2] = np.iinfo(dtype).min, np.iinfo(dtype).max
    if dtype.kind == "c":
        found = found - 1j * found[::-1]
    return found


def same(found, expected):
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
class TestElements:
    """Each element type, in each kind of variable and each way to lie."""

    def test_in_rows(self, pair, dtype):
        array = array_of(dtype)
        same(pair.trip(array), array)
        same(pair.trip(array, copy=False), array)

    def test_in_columns(self, pair, dtype):
        array = np.asfortranarray(array_of(dtype))
        pair.put(array)
        pair.put(array, copy=False)
        with pair.take() as step:
            same(step["x"].view(), array)
            assert step["x"].view().flags.f_contiguous
            same(step["x"][...], array)
            same(step["x"][:, 1:], array[:, 1:])
        with pair.take() as step:
            same(step["x"][...], array)

    def test_with_gaps(self, pair, dtype):
        array = array_of(dtype)
        before = pair.publisher.statistics()["arranged_bytes"]
        for part in (array[:, ::2], array[::-1], array.T[1:], np.broadcast_to(array[0], (4, 3))):
            same(pair.trip(part), part)
            same(pair.trip(part, copy=False), part)
        assert pair.publisher.statistics()["arranged_bytes"] > before

    def test_of_the_other_byte_order(self, pair, dtype):
        if dtype.itemsize == 1 or dtype.kind == "V":
            return
        array = array_of(dtype)
        same(pair.trip(array.astype(dtype.newbyteorder(">"))), array)
        same(pair.trip(array.astype(dtype.newbyteorder(">"))[:, ::2]), array[:, ::2])

    def test_one(self, pair, dtype):
        array = array_of(dtype)
        same(pair.trip(array[1, 2]), array[1, 2].reshape(()))
        pair.put(array[1, 2])
        with pair.take() as step:
            found = step["x"]
            assert (found.kind, found.shape, found.ndim, found.size) == ("scalar", (), 0, 1)
            assert type(found[()]) is type(array[1, 2]) and found[()] == array[1, 2]
            assert found.item() == array[1, 2].item()
            same(found.read(out=np.zeros((), dtype)), array[1, 2].reshape(()))

    def test_none(self, pair, dtype):
        for words in ({}, {"joined": True}, {"local": True}, {"copy": False}):
            same(pair.trip(np.empty((0, 3), dtype), **words), np.empty((0, 3), dtype))

    def test_joined(self, pair, dtype):
        array = array_of(dtype)
        with pair.publisher.step() as step:
            step.put("x", array, joined=True)
            step.put("x", array[:1], joined=True)
        with pair.take() as step:
            found = step["x"]
            assert (found.kind, found.shape) == ("joined", (3, 3))
            same(found[...], np.concatenate([array, array[:1]]))
            assert found.blocks() == [(0, 0, (0, 0), (2, 3)), (0, 1, (2, 0), (1, 3))]

    def test_local(self, pair, dtype):
        array = array_of(dtype)
        with pair.publisher.step() as step:
            step.put("x", array, local=True)
            step.put("x", array[:1, :2], local=True)
            step.put("one", array[0, 1], local=True)
        with pair.take() as step:
            found = step["x"]
            assert (found.kind, found.ndim) == ("local", 2)
            same(found.block(0), array)
            same(found.block(0, 1), array[:1, :2])
            same(found.rank(0), np.concatenate([array.ravel(), array[0, :2]]))
            assert step["one"].kind == "local_scalar" and step["one"].item() == array[0, 1].item()

    def test_parts(self, pair, dtype):
        array = array_of(dtype)
        with pair.publisher.step() as step:
            step.put("x", array, start=(0, 1), shape=(4, 5))
            step.put("x", array, start=(2, 2), shape=(4, 5))
        whole = np.full((4, 5), dtype.type(1))
        whole[:2, 1:4], whole[2:, 2:] = array, array
        with pair.take() as step:
            same(step["x"].read(fill=1), whole)
            same(step["x"].read(np.s_[::-1, 3], fill=1), whole[::-1, 3])
            with pytest.raises(flexpath.Misuse, match="8 of 20 elements were put by no rank"):
                step["x"][...]

    def test_lent(self, pair, dtype):
        array = array_of(dtype)
        with pair.publisher.step() as step, step.loan("x", array.shape, dtype) as lent:
            assert lent.dtype == dtype
            lent[...] = array
        with pair.take() as step:
            same(step["x"].view(), array)

    def test_into_an_array(self, pair, dtype):
        array = array_of(dtype)
        pair.put(array)
        with pair.take() as step:
            for order in "CF":
                out = np.zeros((2, 3), dtype, order)
                assert step["x"].read(out=out) is out
                same(out, array)
                same(step["x"].read(np.s_[::-1], out=out), array[::-1])
                same(step["x"].read(([[0, 1], [1, 0]], [[2, 1], [0, 0]]), out=out[:, :2].copy(order)),
                     array[[[0, 1], [1, 0]], [[2, 1], [0, 0]]])
            if dtype.kind != "V" and dtype.itemsize > 1:
                out = np.zeros((2, 3), dtype.newbyteorder(">"))
                step["x"].read(out=out)
                np.testing.assert_array_equal(out, array)
            same(step.fetch("x")["x"], array)


def test_numbers_become_what_is_asked_for(pair):
    pair.put(np.array([[1, -2], [3, 100]], "i2"))
    with pair.take() as step:
        found = step["x"]
        same(found.astype("i8")[...], np.array([[1, -2], [3, 100]]))
        same(found.astype(float)[::-1, 0], np.array([3.0, 1.0]))
        same(found.astype("i1", lossy=True)[...], np.array([[1, -2], [3, 100]], "i1"))
        assert found.astype("f4").dtype == np.float32
        with pytest.raises(flexpath.Misuse, match="i8 does not hold every i16: that has to be asked for"):
            found.astype("i1")[...]
        same(found.read(out=np.zeros((2, 2))), np.array([[1.0, -2.0], [3.0, 100.0]]))
        same(np.asarray(found, dtype="f4"), np.array([[1, -2], [3, 100]], "f4"))
        assert float(found[0, 0]) == 1.0


def test_numbers_of_python(pair):
    for value, dtype in ((3, int), (2.5, float), (1 + 2j, complex), (True, bool)):
        pair.put(value)
        with pair.take() as step:
            assert step["x"].item() == value and type(step["x"].item()) is dtype
            assert (complex(step["x"]), bool(step["x"])) == (complex(value), True)
    pair.put([[1.0, 2.0], [3.0, 4.0]])
    with pair.take() as step:
        assert step["x"][...].tolist() == [[1.0, 2.0], [3.0, 4.0]]
        assert [row.tolist() for row in step["x"]] == [[1.0, 2.0], [3.0, 4.0]]
        assert len(step["x"]) == 2 and np.sum(step["x"]) == 10.0


@pytest.mark.parametrize("text", ["", "a text", "Übergröße \N{SNOWMAN} \0 \n", "long " * 800])
def test_texts(pair, text):
    pair.put(text, description="what it says")
    with pair.take() as step:
        found = step["x"]
        assert str(found) == found[...] == found[()] == found.item() == text
        assert (found.kind, found.shape, found.dtype, found.ndim) == ("scalar", (), np.dtype(object), 0)
        assert found.description == "what it says"


def test_what_is_said_of_a_variable(pair):
    attributes = {"yes": True, "number": -3, "great": 2**63, "real": 0.5, "text": "ä", "bytes": b"\0\1",
                  "numbers": [1, 2], "reals": [1.0, 2.5], "texts": ["a", "b"]}
    pair.put(np.zeros((2, 3)), unit="m/s", description="a field", dims=("y", "x"), attrs=attributes)
    with pair.take() as step:
        found = step["x"]
        assert (found.name, found.unit, found.description, found.dims) == ("x", "m/s", "a field", ("y", "x"))
        assert found.attrs == attributes
        assert {key: type(value) for key, value in found.attrs.items()} == {k: type(v) for k, v in attributes.items()}
        assert (found.size, found.nbytes, found.dtype, repr(found)) == (
            6, 48, np.dtype("f8"), "<flexpath.Array 'x' (2, 3) f64 in m/s>")
    pair.put(np.zeros(2))
    with pair.take() as step:
        assert (step["x"].unit, step["x"].description, step["x"].dims, step["x"].attrs) == (None, None, (), {})


def test_attributes_are_those_of_each_step(pair):
    given = [1, True, 1.0, "1", [1], [1.0], np.float32(0.5), np.int8(3), np.bool_(True), np.array([1, 2])]
    given.append(np.arange(2.0))
    expected = [1, True, 1.0, "1", [1], [1.0], 0.5, 3, True, [1, 2], [0.0, 1.0]]
    changing = []
    for value in [*given, changing, changing]:
        changing.append(7)
        pair.put(1.0, attrs={"a": value})
        with pair.take() as step:
            found = step["x"].attrs["a"]
            wanted = expected.pop(0) if expected else list(changing)
            assert (found, type(found)) == (wanted, type(wanted))


def test_a_step_is_a_mapping(pair):
    with pair.publisher.step() as writer:
        assert writer.number == 0 and writer.wanted("x")
        writer["b"], writer["a"] = 1, np.zeros(3)
    with pair.take() as step:
        assert (step.number, step.stream, step.epoch) == (0, pair.stream, pair.publisher.epoch)
        assert (step.skipped, step.is_redelivered, step.nbytes, step.queued_steps) == (0, False, 24, 0)
        assert list(step) == ["a", "b"] and len(step) == 2 and "a" in step and "c" not in step
        assert {name: array.shape for name, array in step.items()} == {"a": (3,), "b": ()}
        assert step.get("c") is None
        with pytest.raises(KeyError, match="step 0: there is no variable 'c'; there are: 'a', 'b'"):
            step["c"]
    assert step.is_released
    with pair.publisher.step():
        pass
    with pair.take() as step:
        assert step and list(step) == []


def test_variables_change_from_step_to_step(pair):
    records = np.array([(1, 2.0)], [("a", "i4"), ("b", "f8")])
    for value in (1, np.arange(3.0), "text", np.arange(4), records, np.ones((2, 2), "F"), np.ones((2, 2)), 2.5):
        pair.put(value)
        with pair.take() as step:
            found = step["x"][...]
            assert np.array_equal(found, value), (found, value)


def test_lent_memory_stays_as_it_is_while_an_array_of_it_is_alive(pair):
    kept = []
    for number in range(100):
        with pair.publisher.step() as step, step.loan("x", (1000,), "i8") as lent:
            lent[...] = number
            part = lent[10:20]
        assert not lent.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            lent[0] = 7
        if number == 0:
            kept.append(part)
        with pair.take() as taken:
            assert (taken["x"][...] == number).all()
    del lent, part
    gc.collect()
    assert kept[0].tolist() == [0] * 10
    assert (np.frombuffer(kept[0].base, "i8") == 0).all()


def test_lent_memory_is_used_again_when_no_array_of_it_is_alive(pair):
    found = set()
    for _ in range(50):
        with pair.publisher.step() as step, step.loan("x", (1 << 16,), "f8") as lent:
            lent[...] = 1.0
            found.add(lent.ctypes.data)
        del lent
        with pair.take() as taken:
            taken["x"].view()
        pair.publisher.sync(30.0)
    assert len(found) < 10, found


def test_loans_of_each_kind(pair):
    with pair.publisher.step() as step:
        with step.loan("part", (2,), "i4", start=(1,), shape=(3,), unit="K", dims=("x",), attrs={"a": 1}) as lent:
            lent[...] = [1, 2]
        with step.loan("joined", (2, 1), "i4", joined=True) as lent:
            lent[...] = 3
        with step.loan("local", (1,), "i4", local=True) as lent:
            lent[...] = 4
        with step.loan("one", (), ">f8") as lent:
            lent[...] = 1.5
        with step.loan("none", (0, 2)) as lent:
            assert lent.shape == (0, 2)
        with step.loan("rows", (3, 2), "f4") as lent:
            lent[1:] = 5.0
            lent[0] = 4.0
    with pair.take() as step:
        assert step["part"].read(fill=0).tolist() == [0, 1, 2]
        assert (step["part"].unit, step["part"].dims, step["part"].attrs) == ("K", ("x",), {"a": 1})
        assert step["joined"][...].tolist() == [[3], [3]] and step["local"][...].tolist() == [4]
        assert float(step["one"]) == 1.5 and step["none"].shape == (0, 2)
        assert step["rows"][...].tolist() == [[4, 4], [5, 5], [5, 5]]


def test_a_loan_whose_block_raises_is_not_put(pair):
    with pair.publisher.step() as step:
        with pytest.raises(KeyError), step.loan("x", (2,)):
            raise KeyError
        step["y"] = 1
    with pair.take() as step:
        assert list(step) == ["y"]


def test_a_loan_of_a_step_that_has_ended_is_not_put(pair):
    step = pair.publisher.step()
    with pytest.raises(flexpath.Misuse, match="step 0 was ended"), step.loan("x", (2,)):
        step.end()
    with pair.take() as step:
        assert list(step) == []


def test_what_is_put_without_a_copy_is_held_until_it_is_released(stream):
    with flexpath.publish(stream) as publisher, flexpath.subscribe(stream, transports="shm,tcp") as subscriber:
        array = np.arange(10_000.0)
        alive = weakref.ref(array)
        with publisher.step() as step:
            step.put("x", array, copy=False)
        del array
        gc.collect()
        assert alive() is not None
        with subscriber.next_step(30.0) as step:
            assert step["x"][-1] == 9999.0
        publisher.sync(30.0)
        publisher.statistics()  # what other threads have let go of goes with the next call
        gc.collect()
        assert alive() is None


def test_what_is_put_without_a_copy_is_not_copied(pair):
    pair.put(np.arange(10_000.0), copy=False)
    with pair.take() as step:
        assert step["x"].view()[-1] == 9999.0
    assert pair.publisher.statistics()["put_copied_bytes"] == 0


def test_what_nobody_takes_is_not_copied(stream):
    with flexpath.publish(stream) as publisher, flexpath.subscribe(stream, variables=["wanted"]) as subscriber:
        with publisher.step() as step:
            assert step.wanted("wanted") and not step.wanted("x")
            step["x"], step["wanted"] = np.zeros(1000), np.zeros(10)
            step["gaps"] = np.zeros(1000)[::2]
        with subscriber.next_step(30.0) as step:
            assert step["wanted"].size == 10
            with pytest.raises(flexpath.Misuse, match='variable "x": it is not among those subscribed to'):
                step["x"][...]
        counted = publisher.statistics()
        assert (counted["put_copied_bytes"], counted["arranged_bytes"]) == (80, 0)


def test_a_copy_that_cannot_be_avoided_is_refused(pair):
    with pair.publisher.step() as step:
        step.put("whole", np.arange(6.0).reshape(2, 3))
        step.put("cut", np.zeros(2), start=(0,), shape=(4,))
        step.put("cut", np.ones(2), start=(2,), shape=(4,))
    with pair.take() as step:
        assert np.array(step["whole"], copy=False).tolist() == [[0, 1, 2], [3, 4, 5]]
        assert np.array(step["cut"]).tolist() == [0, 0, 1, 1]
        for name, dtype in (("cut", None), ("whole", "f4")):
            with pytest.raises(ValueError, match=f"variable '{name}': a copy cannot be avoided"):
                np.array(step[name], dtype, copy=False)


def test_steps_are_copied_to_another_stream(pair, stream):
    atom = flexpath.RecordType("atom", {"id": "i8", "name": str, "near": ["i4"]})
    plain = np.array([(1, 2.0, (3.0, 4))], [("a", "i4"), ("b", "f8"), ("p", [("x", "f4"), ("y", "f8")])])
    said = {"unit": "K", "dims": ("y", "x"), "attrs": {"a": 1}, "description": "d"}
    values = {
        "array": (np.arange(6.0).reshape(2, 3), said),
        "columns": (np.asfortranarray(np.arange(6).reshape(2, 3)), {}),
        "bools": (np.array([True, False]), {}),
        "joined": (np.arange(4).reshape(2, 2), {"joined": True}),
        "local": (np.arange(3), {"local": True}),
        "own": (2.5, {"local": True}),
        "one": (3, {}),
        "text": ("ä", {"unit": "words"}),
        "records": (plain, {}),
        "record": (plain[0], {}),
        "objects": ([{"id": 1, "name": "H", "near": [1, 2]}, {"id": 2, "name": "He", "near": []}], {"records": atom}),
        "object": ({"id": 1, "name": "H", "near": [1, 2]}, {"records": atom}),
    }
    values["short"] = (np.arange(3).astype(bfloat16), {})
    with pair.publisher.step() as step:
        for name, (value, words) in values.items():
            step.put(name, value, **words)
        step.put("local", np.arange(2), local=True)
    with flexpath.publish(stream + "-2") as out, flexpath.subscribe(stream + "-2") as subscriber:
        with pair.take() as source:
            with out.step() as step:
                for name in source:
                    step.copy_from(source, name)
            with out.step() as step:
                for name in source:
                    step.copy_from(source, name, source[name][...])
            with subscriber.next_step(30.0) as copied, subscriber.next_step(30.0) as given:
                assert list(copied) == list(given) == list(source)
                for name in source:
                    for step in (copied, given):
                        assert_alike(source[name], step[name])
                assert copied["local"].blocks() == source["local"].blocks()


def assert_alike(source, copied):
    for what in ("kind", "dtype", "unit", "dims", "attrs", "description", "ndim"):
        assert getattr(copied, what) == getattr(source, what), what
    assert np.array_equal(source[...], copied[...]), (source[...], copied[...])
    if source.dtype != object:
        assert source[...].flags.f_contiguous == copied[...].flags.f_contiguous
