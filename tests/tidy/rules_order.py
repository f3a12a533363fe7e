"""Everything is built, tested, described and read."""
import os
import re

from tree import Problem

KNOBS = "src/base/knobs.cc"
KNOB_DOC = "docs/knobs.md"
MAX_PLATE_LINES = 20
EXPECTATIONS = ("golden", "refused")  # folders of expected texts

# Inner parts of a room, by the beginning of their path, that are tested through its front door: the header, and the reason.
TESTED_THROUGH = {
    "src/verify/": ("verify/verify.h", "the judge is one machine; its parts have no meaning that a caller could see"),
    "src/transport/": ("team.h", "what a transport is made of is judged by the conformance suite, which runs over all of them"),
    "src/comm/hubs": ("world.h", "every communicator over TCP has a hub from there"),
    "src/comm/reach": ("processes.h", "every communicator of processes on several hosts goes through it"),
    "src/kernels/simd_": ("kernels/combine.h", "each set is compared with the scalar one, bit for bit"),
}


def every_source_is_built(tree):
    builds = {os.path.dirname(path): set(re.findall(r"'([^']+\.cc?)'", file.text))
              for path, file in tree.files.items() if file.name == "meson.build"}
    for file in tree.cpp():
        if not file.name.endswith((".cc", ".c")):
            continue
        folder = file.folder
        while folder and folder not in builds:
            folder = os.path.dirname(folder)
        name = os.path.relpath(file.path, folder or ".")
        of_platform = re.sub(r"_(x86|aarch64|other)\.cc$", "_@0@.cc", name)  # one of several, chosen by format()
        if not {name, of_platform} & builds.get(folder, set()):
            yield Problem(file.path, 1, "no meson.build has it", f"add '{name}' to {os.path.join(folder, 'meson.build')}")


def header_of(tree, file):
    """The header that a source implements: that of its name, else the first one of the project that it includes."""
    own = file.path[len("src/"):-len(".cc")] + ".h"
    if "src/" + own in tree.paths:
        return own
    ours = (name for _, name in file.includes if "src/" + name in tree.paths or name.startswith("hcomm/"))
    return next(ours, own)


def every_source_is_tested(tree):
    tested = {name for file in tree.cpp("tests") for _, name in file.includes}
    for file in tree.cpp("src"):
        doors = [door for start, (door, _) in TESTED_THROUGH.items() if file.path.startswith(start)]
        wanted = {header_of(tree, file), *doors}
        if file.name.endswith(".cc") and not wanted & tested:
            yield Problem(file.path, 1, f"no test includes {' or '.join(sorted(wanted))}",
                          f"write tests/{file.path.split('/')[1]}/..._test.cc, or give the reason in TESTED_THROUGH")


def every_room_has_a_plate(tree):
    for folder in sorted({file.folder for file in tree.cpp("src")}):
        plate = folder + "/README.md"
        if plate not in tree.files:
            yield Problem(plate, 1, "a room without a plate", "write what it is for, its front door, what it may include")
        elif len(tree.files[plate].lines) > MAX_PLATE_LINES:
            yield Problem(plate, MAX_PLATE_LINES + 1, f"more than {MAX_PLATE_LINES} lines", "say less; the headers teach")


def knobs_and_their_page_agree(tree):
    knobs = {match.group(1): tree.text(KNOBS).count("\n", 0, match.start()) + 1
             for match in re.finditer(r'\{\{"(HCOMM_[A-Z_]+)"', tree.text(KNOBS))}
    described = {match.group(1): tree.text(KNOB_DOC).count("\n", 0, match.start()) + 1
                 for match in re.finditer(r"(?m)^##+ `?(HCOMM_[A-Z_]+)", tree.text(KNOB_DOC))}
    for name in sorted(knobs.keys() - described.keys()):
        yield Problem(KNOBS, knobs[name], f"{name} is not described", f"give it a heading in {KNOB_DOC}")
    for name in sorted(described.keys() - knobs.keys()):
        yield Problem(KNOB_DOC, described[name], f"{name} is no knob", f"take it out, or add it to {KNOBS}")


def every_expectation_is_read(tree):
    folders = {os.path.dirname(path) for path in tree.paths if path.startswith("tests/")}
    for folder in sorted(folder for folder in folders if os.path.basename(folder) in EXPECTATIONS):
        name = os.path.basename(folder)
        room = os.path.dirname(folder)
        readers = [file.text for file in tree.under(room) if file.name.endswith((".cc", ".py"))]
        reads_whole = (any(re.search(r"directory_iterator|listdir|scandir|glob\(|iterdir", text) for text in readers)
                       and any(name in text for text in readers))
        if not reads_whole:
            yield Problem(folder, 1, "no test reads the whole folder", f"let a test of {room} go through '{name}' file by file")


def links_lead_somewhere(tree):
    for file in tree.files.values():
        if not file.name.endswith(".md"):
            continue
        for number, line in enumerate(file.lines, 1):
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", line):
                path = os.path.normpath(os.path.join(file.folder, target))
                is_there = path in tree.paths or any(other.startswith(path + "/") for other in tree.paths)
                if not re.match(r"[a-z]+:", target) and not is_there:
                    yield Problem(file.path, number, f"{target} is not there", "mend the link")


RULES = [every_source_is_built, every_source_is_tested, every_room_has_a_plate, knobs_and_their_page_agree,
         every_expectation_is_read, links_lead_somewhere]
