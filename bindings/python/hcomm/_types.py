"""Element types and operations, and which type the elements of a buffer have."""
import enum
import sys


class DataType(enum.IntEnum):
    """hcommDataType_t. Wherever a dtype is asked for, the name will do, too, as will a numpy dtype of that name."""

    int8 = 0
    uint8 = 1
    int32 = 2
    uint32 = 3
    int64 = 4
    uint64 = 5
    float16 = 6
    float32 = 7
    float64 = 8
    bfloat16 = 9  # in buffers of 16-bit integers
    float8e4m3 = 10  # in buffers of 8-bit integers, as the next
    float8e5m2 = 11
    int16 = 12
    uint16 = 13
    bool = 14
    complex64 = 15
    complex128 = 16

    @property
    def nbytes(self):
        """Bytes of one element."""
        return SIZES[self]

    @property
    def storage(self):
        """The name of the numpy dtype that holds such elements: its own, or that of integers as wide."""
        return STORAGES.get(self, self.name)


class Op(enum.IntEnum):
    """hcommRedOp_t. Wherever an op is asked for, the name will do, too. docs/types.md says which type has which."""

    sum = 0
    prod = 1
    max = 2
    min = 3
    avg = 4
    land = 5
    lor = 6
    lxor = 7
    band = 8
    bor = 9
    bxor = 10


SIZES = {
    DataType.int8: 1, DataType.uint8: 1, DataType.int16: 2, DataType.uint16: 2, DataType.int32: 4, DataType.uint32: 4,
    DataType.int64: 8, DataType.uint64: 8, DataType.bool: 1, DataType.float16: 2, DataType.bfloat16: 2, DataType.float32: 4,
    DataType.float64: 8, DataType.float8e4m3: 1, DataType.float8e5m2: 1, DataType.complex64: 8, DataType.complex128: 16,
}
STORAGES = {DataType.bfloat16: "uint16", DataType.float8e4m3: "uint8", DataType.float8e5m2: "uint8"}
INTEGERS = {each for each in DataType if each.name.startswith(("int", "uint"))}
BYTES = {DataType.int8, DataType.uint8}

# Formats of the buffer protocol: what kind of number a letter means, whatever its size; the size comes with the buffer.
KINDS = {letter: kind for kind, letters in {"int": "bhilqn", "uint": "BHILQNc", "float": "efd", "bool": "?"}.items()
         for letter in letters}
FOREIGN_ORDER = ">!" if sys.byteorder == "little" else "<"


def has_foreign_order(form, nbytes):
    return nbytes > 1 and form[:1] in tuple(FOREIGN_ORDER)


def type_of_format(form, nbytes):
    """The DataType of elements with this format of the buffer protocol and this size, or None."""
    letters = form.lstrip("@=<>!")
    kind = "complex" if letters in ("Zf", "Zd") else KINDS.get(letters)
    name = "bool" if kind == "bool" else f"{kind}{8 * nbytes}"
    return DataType.__members__.get(name) if kind else None


def named(kind, value, what):
    """The member of `kind` (DataType or Op) that `value` is or names."""
    if isinstance(value, kind):
        return value
    name = value if isinstance(value, str) else getattr(value, "name", None) or getattr(value, "__name__", None)
    member = kind.__members__.get(str(name).rstrip("_"))  # numpy's own classes: numpy.float32, numpy.bool_
    if member is None:
        raise ValueError(f"{what} is {value!r}; legal are {', '.join(kind.__members__)}")
    return member
