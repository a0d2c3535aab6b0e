"""Element types: the library's names for numpy's types, and back."""

from typing import Any

import numpy as np

from ._errors import Misuse


def _bfloat16() -> np.dtype[Any]:
    """The type of package ml_dtypes, where it is installed; else the bits."""
    try:
        import ml_dtypes
    except ImportError:
        return np.dtype(np.uint16)
    found: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return found


#: Numpy's type of each element type.
OF_NAME: dict[str, np.dtype[Any]] = {
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "u8": np.dtype(np.uint8),
    "u16": np.dtype(np.uint16),
    "u32": np.dtype(np.uint32),
    "u64": np.dtype(np.uint64),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "c32": np.dtype(np.complex64),
    "c64": np.dtype(np.complex128),
    "bool": np.dtype(np.bool_),
}

#: The element type of each of numpy's.
NAME_OF = {dtype: name for name, dtype in OF_NAME.items()}

if _bfloat16() != np.dtype(np.uint16):
    NAME_OF[_bfloat16()] = "bf16"
OF_NAME["bf16"] = _bfloat16()

_INSTEAD = {
    "O": "give an array of numbers, or records by dicts and `records=`",
    "U": "give a text as a str; arrays of texts are fields of records",
    "S": "give a text as a str; bytes are an array of uint8",
    "M": 'numbers with a unit go, as in `times.astype("int64")`',
    "m": 'numbers with a unit go, as in `times.astype("int64")`',
}


def name_of(dtype: np.dtype[Any], variable: str) -> str:
    """The library's name of an element type, or why there is none."""
    name = NAME_OF.get(dtype) or NAME_OF.get(dtype.newbyteorder("="))
    if name is None:
        instead = _INSTEAD.get(dtype.kind, "convert them, as in `array.astype(float)`")
        raise Misuse(f"variable {variable!r}: there is no element type for {dtype}: {instead}")
    return name


def of_name(name: str, variable: str) -> np.dtype[Any]:
    """Numpy's type for the library's name."""
    try:
        return OF_NAME[name]
    except KeyError:
        raise Misuse(f"variable {variable!r}: elements of type {name} are no array of numbers") from None
