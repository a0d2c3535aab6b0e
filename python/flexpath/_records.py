"""Records: structured arrays of numpy, and Python objects for lists and texts."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._dtypes import NAME_OF, OF_NAME
from ._errors import Misuse


class RecordType:
    """The type of records: a name, and fields with their types.

    A field's type is one of numpy's number types, `bool`, `str`, `bytes`, another RecordType, or a list with one of
    these: then each record has as many as it likes. A tuple of a type and a shape is an array in the record.

    >>> atom = RecordType("atom", {"id": "i8", "name": str, "position": ("f8", 3), "neighbours": ["i8"]})
    >>> atom.dtype.names
    ('id', 'name', 'position', 'neighbours')
    """

    def __init__(self, name: str, fields: Mapping[str, Any]) -> None:
        self.schema = _native.Schema(name, [(field, _words(field, of)) for field, of in fields.items()])

    @classmethod
    def of_dtype(cls, name: str, dtype: Any) -> "RecordType":
        """The record type of a structured type of numpy."""
        return cls.of_schema(_schema_of_dtype(name, np.dtype(dtype)))

    @classmethod
    def of_schema(cls, schema: _native.Schema) -> "RecordType":
        """The record type that the library knows."""
        made = cls.__new__(cls)
        made.schema = schema
        return made

    @property
    def name(self) -> str:
        """The name of the type."""
        return self.schema.name

    @property
    def dtype(self) -> np.dtype[Any]:
        """The structured type of numpy; fields with lists, texts and records in them are Python objects."""
        return _dtype_of(self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordType) and self.schema == other.schema

    def __hash__(self) -> int:
        return hash(self.schema)

    def __repr__(self) -> str:
        return f"<flexpath.RecordType {self.name}: {', '.join(field[0] for field in self.schema.fields)}>"


def _words(field: str, of: Any) -> Any:
    """A field's type in the words of the native part."""
    if isinstance(of, list):
        if len(of) != 1:
            raise Misuse(f"field {field!r}: a list has the type of its elements, as in [float]")
        return {**_as_words(_words(field, of[0])), "list": True}
    if isinstance(of, tuple):
        kind, shape = of
        return {**_as_words(_words(field, kind)), "shape": [shape] if isinstance(shape, int) else list(shape)}
    if isinstance(of, RecordType):
        return of.schema
    if of in (str, bytes):
        return "string" if of is str else "bytes"
    if isinstance(of, dict):
        return {**of, "type": _words(field, of["type"])}
    dtype = np.dtype(of)
    if dtype.fields is not None:
        return _schema_of_dtype(field, dtype)
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return {**_as_words(_words(field, base)), "shape": list(shape)}
    name = NAME_OF.get(dtype) or NAME_OF.get(dtype.newbyteorder("="))
    if name is None:
        instead = ": a RecordType with a field of type str takes dicts" if dtype.kind in "USO" else ""
        raise Misuse(f"field {field!r}: there is no element type for {dtype}{instead}")
    return name


def _as_words(of: Any) -> dict[str, Any]:
    return of if isinstance(of, dict) else {"type": of}


def _schema_of_dtype(name: str, dtype: np.dtype[Any]) -> _native.Schema:
    if dtype.names is None or dtype.fields is None:
        raise Misuse(f"{name}: {dtype} has no fields: give a structured type, or a RecordType")
    return _native.Schema(name, [(field, _words(field, dtype.fields[field][0])) for field in dtype.names])


def _field_dtype(words: dict[str, Any]) -> Any:
    """Numpy's type of a field."""
    if "list" in words or "sized_by" in words or "optional" in words or "variants" in words:
        return np.dtype(object)
    of = words["type"]
    if isinstance(of, _native.Schema):
        inner = _dtype_of(of) if of.is_plain else np.dtype(object)
    else:
        inner = OF_NAME.get(of, np.dtype(object))
    if "shape" not in words or inner.hasobject:
        return np.dtype(object) if inner.hasobject else inner
    return np.dtype((inner, tuple(words["shape"])))


def _dtype_of(schema: _native.Schema) -> np.dtype[Any]:
    fields = schema.fields
    formats = [_field_dtype(words) for _, _, words in fields]
    names = [name for name, _, _ in fields]
    if schema.is_plain and not any(of.hasobject for of in formats):
        offsets = [offset for _, offset, _ in fields]
        return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": schema.size_bytes})
    return np.dtype(list(zip(names, formats, strict=True)))


def lies_as_it_is(schema: _native.Schema) -> bool:
    """Whether the bytes of such records are those of numpy's structured type."""
    return schema.is_plain and not _dtype_of(schema).hasobject and not _has_columns(schema)


def _has_columns(schema: _native.Schema) -> bool:
    """Whether an array in a record lies in columns, as none in a structured type of numpy does."""
    return any(
        (words.get("column_major", False) and len(words["shape"]) > 1)
        or (isinstance(words["type"], _native.Schema) and _has_columns(words["type"]))
        for _, _, words in schema.fields
    )


def from_values(schema: _native.Schema, shape: tuple[int, ...], values: Sequence[dict[str, Any]]) -> NDArray[Any]:
    """Records that came as dicts, as a structured array."""
    array = np.empty(len(values), _dtype_of(schema))
    _fill(array, schema, values)
    return array.reshape(shape)


def _fill(array: NDArray[Any], schema: _native.Schema, values: Sequence[dict[str, Any]]) -> None:
    for name, _, words in schema.fields:
        of, part = array.dtype[name], array[name]
        # Elements of an array in the record come one after another, in its order.
        order: Literal["F", "C"] = "F" if words.get("column_major") else "C"
        for index, record in enumerate(values):
            value = _shaped(words, record[name]) if of.base.hasobject else record[name]
            if of.base.names is not None:
                inner = value if isinstance(value, list) else [value]
                value = np.empty(len(inner), of.base)
                _fill(value, words["type"], inner)
            part[index] = np.reshape(value, of.shape, order) if of.base.names or len(of.shape) > 1 else value


def _shaped(words: dict[str, Any], value: Any) -> Any:
    """A value of a field as Python's lists and dicts: the native part gives a table's elements one after another."""
    of, shape = words["type"], words.get("shape", ())
    if isinstance(of, _native.Schema):
        if isinstance(value, list):
            value = [_shaped({"type": of}, element) for element in value]
        elif value is not None:
            value = {name: _shaped(inner, value[name]) for name, _, inner in of.fields}
    if len(shape) > 1 and value is not None:
        flat = np.empty(len(value), object)
        flat[:] = value
        value = flat.reshape(shape, order="F" if words.get("column_major") else "C").tolist()
    return value


def to_values(array: NDArray[Any]) -> list[dict[str, Any]]:
    """A structured array as dicts, as records with lists and texts are put."""
    return [_to_value(record) for record in array.ravel()]


def _to_value(given: Any) -> Any:
    if isinstance(given, np.void):
        return {name: _to_value(given[name]) for name in given.dtype.names or ()}
    if isinstance(given, np.ndarray) and given.dtype.names is not None:
        return to_values(given)
    return given


def aligned(array: NDArray[Any], schema: _native.Schema) -> NDArray[Any]:
    """A structured array whose fields lie as the library lays them."""
    wanted = _dtype_of(schema)
    if array.dtype == wanted and array.dtype.itemsize == wanted.itemsize:
        return array
    laid = np.zeros(array.shape, wanted)
    for name in wanted.names or ():
        laid[name] = array[name]
    return laid
