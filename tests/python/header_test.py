"""The package and the headers say the same: functions and what they take, enumerations and their numbers."""
import ctypes
import os
import re
import unittest

import rig

import hcomm
from hcomm import _library

POINTERS = {"int*": ctypes.POINTER(ctypes.c_int), "hcommComm_t*": ctypes.POINTER(ctypes.c_void_p),
            "hcommUniqueId*": ctypes.POINTER(_library.UniqueId), "void**": ctypes.POINTER(ctypes.c_void_p),
            "size_t*": ctypes.POINTER(ctypes.c_size_t),
            "hcommResult_t*": ctypes.POINTER(ctypes.c_int)}
VALUES = {"int": ctypes.c_int, "size_t": ctypes.c_size_t, "hcommUniqueId": _library.UniqueId, "hcommComm_t": ctypes.c_void_p,
          "hcommStream_t": ctypes.c_void_p, "hcommDataType_t": ctypes.c_int, "hcommRedOp_t": ctypes.c_int,
          "hcommResult_t": ctypes.c_int, "void*": ctypes.c_void_p}


def header(name):
    with open(os.path.join(rig.SOURCE, "include", "hcomm", name), encoding="utf-8") as file:
        return re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)


def functions():
    """name -> (type of the answer, types of the parameters), as hcomm.h writes them."""
    found = re.findall(r"HCOMM_EXPORT\s+([\w\s*]+?)\s*\b(hcomm\w+)\(([^)]*)\)", header("hcomm.h"))
    return {name: (answer, [] if words.strip() == "void" else [type_of(word) for word in words.split(",")])
            for answer, name, words in found}


def type_of(parameter):
    """'const void* send' -> 'void*'"""
    return re.sub(r"\bconst\b|\s", "", re.sub(r"\w+\s*$", "", parameter.strip()))


def enumeration(name):
    body = re.search(r"typedef enum \w+ \{([^}]*)\} " + name + ";", header("types.h"))[1]
    return {word: int(number) for word, number in re.findall(r"hcomm(\w+) = (\d+)", body)}


class Headers(unittest.TestCase):
    def test_every_function_is_declared_as_it_is(self):
        declared = functions()
        self.assertGreater(len(declared), 20)
        self.assertEqual(set(declared), set(_library.PROTOTYPES),
                         "PROTOTYPES of bindings/python/hcomm/_library.py must have the functions of hcomm.h: add a line there")
        for name, (answer, parameters) in declared.items():
            wanted = [POINTERS.get(word) or VALUES[word] for word in parameters]
            self.assertEqual(_library.PROTOTYPES[name], wanted, name)
            self.assertEqual(answer == "const char*", name in _library.TEXTS, name)

    def test_enumerations(self):
        def lower(word):
            return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", word).lower()

        for kind, name in ((hcomm.Result, "hcommResult_t"), (hcomm.DataType, "hcommDataType_t"), (hcomm.Op, "hcommRedOp_t")):
            self.assertEqual({member.name: member.value for member in kind},
                             {lower(word): number for word, number in enumeration(name).items()})

    def test_versions(self):
        self.assertEqual(".".join(map(str, hcomm.version())), hcomm.__version__)


if __name__ == "__main__":
    rig.main()
