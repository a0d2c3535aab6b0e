"""Records: structured arrays as they lie, and dicts where there are lists, texts and what need not be there."""

import contextlib
import threading

import flexpath
import numpy as np
import pytest
from flexpath import RecordType

PACKED = np.dtype([("a", "i1"), ("b", "f8"), ("c", "i2", (3,)), ("d", "?")])
ALIGNED = np.dtype(PACKED.descr, align=True)
NESTED = np.dtype([("n", "u1"), ("p", [("x", "f4"), ("y", "f8")]), ("q", [("z", "c8")], (2,)), ("h", "f2", (2, 2))])
ATOM = RecordType("atom", {"id": "i8", "name": str, "place": ("f8", 3), "near": ["i8"], "raw": bytes})
ATOMS = [
    {"id": 1, "name": "H", "place": [1.0, 2.0, 3.0], "near": [4, 5], "raw": b"ab"},
    {"id": 2, "name": "Ö", "place": np.ones(3), "near": [], "raw": b""},
]


def filled(dtype, count):
    """Records with a different value in each number."""
    array = np.zeros(count, dtype)
    numbers = iter(range(1, 10_000))

    def fill(part):
        if part.dtype.names is None:
            part[...] = np.fromiter(numbers, float, part.size).reshape(part.shape) % 100
        for name in part.dtype.names or ():
            fill(part[name])

    fill(array)
    return array


def same(found, expected):
    """Equal field by field; the library may lay fields elsewhere than numpy does."""
    assert found.shape == expected.shape
    assert found.dtype.names == expected.dtype.names
    if found.dtype.names is None:
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    for name in found.dtype.names or ():
        same(found[name], expected[name])


@pytest.mark.parametrize("dtype", [PACKED, ALIGNED, NESTED], ids=["packed", "aligned", "nested"])
class TestStructuredArrays:
    """Records whose bytes are those of a structured array."""

    def test_of_each_kind(self, pair, dtype):
        array = filled(dtype, 4)
        for words in ({}, {"joined": True}, {"local": True}, {"copy": False}):
            same(pair.trip(array, **words), array)
            same(pair.trip(array[::2], **words), array[::2])
            same(pair.trip(array[:0], **words), array[:0])
        for table in (array.reshape(2, 2), np.asfortranarray(array.reshape(2, 2))):
            same(pair.trip(table), table)
        same(pair.trip(array[1]), array[1].reshape(()))

    def test_what_is_said_of_them(self, pair, dtype):
        array = filled(dtype, 4)
        pair.put(array, unit="K", dims=("n",))
        with pair.take() as step:
            found = step["x"]
            assert (found.shape, found.kind, found.unit, found.dims) == ((4,), "global", "K", ("n",))
            assert found.dtype.names == dtype.names and found.nbytes == 4 * found.dtype.itemsize
            assert repr(found) == "<flexpath.Array 'x' (4,) record in K>"
            for key in (np.s_[1:3], np.s_[::-1], [3, 0], np.s_[...]):
                same(found[key], array[key])
            same(found.view(), array)
            same(np.asarray(found), array)
            assert not found.view().flags.writeable
            same(found.read(out=np.zeros(4, dtype)), array)
        pair.put(array[2])
        with pair.take() as step:
            assert list(step["x"].item()) == list(dtype.names)

    def test_in_parts(self, pair, dtype):
        array = filled(dtype, 4)
        with pair.publisher.step() as step:
            step.put("x", array, start=(4,), shape=(8,))
            step.put("x", array[::-1], start=(0,), shape=(8,))
        with pair.take() as step:
            same(step["x"][2:6], np.concatenate([array[1::-1], array[:2]]))
            assert step["x"].blocks() == [(0, 0, (4,), (4,)), (0, 1, (0,), (4,))]

    def test_those_that_lie_as_the_library_lays_them_are_not_arranged(self, pair, dtype):
        laid = RecordType.of_dtype("x", dtype).dtype
        before = pair.publisher.statistics()["arranged_bytes"]
        same(pair.trip(filled(laid, 4)), filled(laid, 4))
        assert pair.publisher.statistics()["arranged_bytes"] == before


def test_fields_of_the_other_byte_order(pair):
    array = np.array([(1, 2.5)], [("a", ">i4"), ("b", ">f8")])
    found = pair.trip(array)
    assert found.dtype["a"] == np.dtype("i4") and found[0].item() == (1, 2.5)


def test_lists_texts_and_bytes(pair):
    for words, kind in (({}, "global"), ({"joined": True}, "joined"), ({"local": True}, "local")):
        pair.put(ATOMS, records=ATOM, **words)
        with pair.take() as step:
            found = step["x"]
            assert (found.kind, found.dtype) == (kind, ATOM.dtype)
            records = found[...]
            assert records.shape == (2,)
            assert records["name"].tolist() == ["H", "Ö"] and records["raw"].tolist() == [b"ab", b""]
            assert records["near"].tolist() == [[4, 5], []]
            assert records["place"].tolist() == [[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]]
    pair.put(ATOMS[0], records=ATOM)
    with pair.take() as step:
        assert step["x"].kind == "scalar"
        record = step["x"].item()
        assert (record["id"], record["name"], record["near"]) == (1, "H", [4, 5])
    assert pair.trip([], records=ATOM).shape == (0,)


def test_records_in_records(pair):
    inner = RecordType("inner", {"name": str, "values": [float]})
    outer = RecordType("outer", {"one": inner, "many": [inner]})
    value = {
        "one": {"name": "a", "values": [1.0]},
        "many": [{"name": "b", "values": []}, {"name": "c", "values": [2.0, 3.0]}],
    }
    pair.put([value, {**value, "many": []}], records=outer)
    with pair.take() as step:
        found = step["x"][...]
        assert found["one"][0] == value["one"] and found["many"].tolist() == [value["many"], []]


def test_plain_records_beside_texts(pair):
    inner = RecordType("inner", {"x": float, "y": ("i4", (2, 2))})
    types = RecordType("outer", {"name": str, "one": inner, "two": (inner, 2), "many": [inner]})
    one = {"x": 1.0, "y": [[1, 2], [3, 4]]}
    pair.put([{"name": "a", "one": one, "two": [one, {**one, "x": 2.0}], "many": [one]}] * 2, records=types)
    with pair.take() as step:
        found = step["x"][...]
        assert found.dtype == types.dtype and found["one"].dtype.names == ("x", "y")
        assert found["one"]["y"].tolist() == [one["y"]] * 2
        assert found["two"]["x"].tolist() == [[1.0, 2.0]] * 2
        assert found["many"][1] == [one]
        with flexpath.publish(pair.stream + "-2") as out, flexpath.subscribe(pair.stream + "-2") as subscriber:
            with out.step() as writer:
                writer.copy_from(step, "x")
            with subscriber.next_step(30.0) as copied:
                assert str(copied["x"][...]) == str(found)


def test_as_many_records_in_records_as_the_type_says(pair):
    inner = RecordType("inner", {"name": str})
    outer = RecordType("outer", {"two": (inner, 2)})
    two = [{"name": "a"}, {"name": "b"}]
    pair.put([{"two": two}], records=outer)
    with pair.take() as step:
        assert step["x"][...]["two"][0] == two
    with pytest.raises(flexpath.Misuse, match='field "two" has 2 records, and 1 are given'):
        pair.put([{"two": two[:1]}], records=outer)


def test_numbers_of_each_type_given_by_python(pair):
    names = "i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 ?".split()
    types = RecordType("all", {f"f{at}": name for at, name in enumerate(names)})
    value = {f"f{at}": (at + 2j if name[0] == "c" else at) for at, name in enumerate(names)}
    found = pair.trip([value], records=types)
    for at, name in enumerate(names):
        assert found.dtype[f"f{at}"] == np.dtype(name)
        assert found[f"f{at}"][0] == (True if name == "?" else value[f"f{at}"])


def test_tables_in_records(pair):
    types = RecordType("table", {"t": ("i2", (2, 3)), "name": str})
    table = [[1, 2, 3], [4, 5, 6]]
    for given in (table, np.array(table), np.array(table, order="F")):
        found = pair.trip([{"t": given, "name": "a"}], records=types)
        assert found["t"][0].tolist() == table


def test_what_need_not_be_there(pair):
    types = RecordType("o", {"a": {"type": "f8", "optional": True}, "b": {"type": "i4", "unit": "K"}})
    found = pair.trip([{"b": 1}, {"a": 1.5, "b": 2}, {"a": None, "b": 3}], records=types)
    assert found["a"].tolist() == [None, 1.5, None] and found["b"].tolist() == [1, 2, 3]


def test_types_of_records():
    one, other = RecordType("a", {"b": "f8", "c": [str]}), RecordType("a", {"b": float, "c": [str]})
    assert one == other and hash(one) == hash(other) and one != RecordType("a", {"b": "f4"}) and one != 3
    assert (one.name, repr(one)) == ("a", "<flexpath.RecordType a: b, c>")
    assert RecordType.of_dtype("x", PACKED).dtype.names == PACKED.names
    assert RecordType.of_schema(one.schema) == one


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"b": "M8[s]"}, "field 'b': there is no element type for datetime64"),
        ({"b": object}, "field 'b': there is no element type for object: a RecordType with a field of type str"),
        ({"b": [float, int]}, r"field 'b': a list has the type of its elements, as in \[float\]"),
        ({"b": {"type": "f8", "colour": 3}}, 'field "b": there is no word "colour"; there are: type, shape, list'),
        ({}, "a: a record without bytes"),
    ],
)
def test_types_that_are_none(fields, message):
    with pytest.raises(flexpath.Misuse, match=message):
        RecordType("a", fields)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([{"id": 1, "mass": 2}], 'record 0: atom has no field "mass"; it has: id, name, place, near, raw'),
        ([{"id": 1}, {"id": "a"}], 'record 1: field "id": TypeError'),
        ([{"id": 2**63}], 'record 0: field "id": OverflowError'),
        ([{"place": [1.0, 2.0]}], "place: it has 3 elements, not 2"),
        ([{"name": 3}], 'record 0: field "name": TypeError'),
        ([{"near": 3}], 'record 0: field "near": TypeError'),
        ([3], "variable 'x': record 0 is no dict with the fields' values"),
    ],
)
def test_values_that_do_not_fit(pair, value, message):
    with pytest.raises(flexpath.Misuse, match=message):
        pair.put(value, records=ATOM)


@pytest.mark.parametrize("kind", ["U3", "S3", "O", "M8[s]"])
def test_structured_arrays_with_fields_that_have_no_type(pair, kind):
    with pytest.raises(flexpath.Misuse, match="field 'a': there is no element type for"):
        pair.put(np.zeros(2, [("a", kind)]))


@contextlib.contextmanager
def flowing(stream, *arguments, **words):
    """Steps with a variable "x", one after another, from a thread of this process."""
    is_open, over = threading.Event(), threading.Event()

    def publish():
        with flexpath.publish(stream, limit_wait=0.1, close_timeout=1.0) as publisher:
            is_open.set()
            while not over.is_set():
                with publisher.step() as step:
                    step.put("x", *arguments, **words)

    thread = threading.Thread(target=publish)
    thread.start()
    assert is_open.wait(30.0)
    try:
        yield
    finally:
        over.set()
        thread.join(30.0)


def test_streams_are_found_by_the_type_of_their_records(stream):
    with flexpath.publish(stream + "-silent"), flowing(stream, ATOMS, records=ATOM):
        found = flexpath.find(ATOM, timeout=3.0)
    assert found[stream] == ["x"]
    assert "attached, but no step came within" in found[stream + "-silent"]


def test_a_subscriber_gets_records_that_provide_the_type_that_it_wants(stream):
    wider = RecordType("wider", {"a": "f8", "b": "i8"})
    with flowing(stream, np.array([(1, 2)], [("b", "i4"), ("a", "f4")])):
        with flexpath.subscribe(stream, types={"x": wider}, policy="latest_only") as subscriber:
            with subscriber.next_step(30.0) as step:
                found = step["x"][...]
                assert (found["a"][0], found["b"][0]) == (2.0, 1)


def test_a_subscriber_is_refused_records_that_do_not_fit(stream):
    with flowing(stream, np.zeros(1, [("id", "f4")])):
        with pytest.raises(flexpath.Incompatible, match="id") as refused:
            flexpath.subscribe(stream, types={"x": ATOM}, policy="latest_only")
        assert isinstance(refused.value, TypeError) and "place" in str(refused.value)
