"""Includes run downstairs only, and public headers are leaves."""
from tree import Problem

# The floors of the house: what each room may include besides itself, include/hcomm/ and the system. The only copy.
BELOW = {
    "base": [],
    "net": ["base"],
    "schedule": ["base"],
    "topology": ["base"],
    "kernels": ["base"],
    "transport": ["base", "net", "schedule"],  # the words of a schedule: lanes, collectives in a verdict, steps of a window
    "bootstrap": ["base", "net"],
    "compress": ["base", "kernels"],
    "algos": ["base", "schedule", "topology"],
    "verify": ["base", "schedule"],  # never algos: a judge must not know the author
    "sim": ["base", "schedule", "topology"],
    "plan": ["base", "schedule", "topology", "algos", "sim", "verify"],
    "engine": ["base", "schedule", "transport", "kernels", "compress"],  # never algos, plan, topology
    "comm": ["base", "net", "schedule", "topology", "kernels", "transport", "bootstrap", "algos", "verify", "sim", "compress",
             "plan", "engine"],
    "api": ["base", "comm"],
    "npu": [],
    "train": [],
}

# Single headers beyond that, with the reason.
EXCEPTIONS = {
    ("api", "transport/local_memory.h"): "hcommMemAlloc needs no communicator",
}

PUBLIC_LEAVES = {"stddef.h", "stdint.h"}
OUTSIDERS = {"tools", "bench", "tests", "bindings", "examples"}


def includes_run_downstairs(tree):
    for file in tree.cpp("src"):
        room = file.path.split("/")[1]
        if room not in BELOW:
            yield Problem(file.path, 1, f"'{room}' is no room", "add it to BELOW in tests/tidy/rules_includes.py, with its floor")
            continue
        for line, name in file.includes:
            target = name.split("/")[0]
            known = target in BELOW or target in OUTSIDERS
            if not known or target == room or target in BELOW[room] or (room, name) in EXCEPTIONS:
                continue
            yield Problem(file.path, line, f"{room} includes {name}, which is not below it",
                          f"move the code to where its room is, or pass what is needed; {room} may include "
                          + (", ".join(BELOW[room]) or "nothing but itself and hcomm/types.h"))


def ground_floor_knows_types_alone(tree):
    for file in tree.cpp("src/base"):
        for line, name in file.includes:
            if name.startswith("hcomm/") and name != "hcomm/types.h":
                yield Problem(file.path, line, f"base includes {name}", "include hcomm/types.h alone")


def examples_are_users(tree):
    for file in tree.cpp("examples"):
        for line, name in file.includes:
            if name.split("/")[0] in BELOW:
                yield Problem(file.path, line, f"an example includes {name}", "use the public headers, as any user does")


def public_headers_are_leaves(tree):
    for file in tree.cpp("include"):
        for line, name in file.includes:
            legal = name.startswith("hcomm/") or name in PUBLIC_LEAVES or (file.name.endswith(".hpp") and "/" not in name)
            if not legal:
                yield Problem(file.path, line, f"a public header includes {name}",
                              "include stddef.h, stdint.h and hcomm/ alone (a .hpp also the standard library)")


RULES = [includes_run_downstairs, ground_floor_knows_types_alone, examples_are_users, public_headers_are_leaves]
