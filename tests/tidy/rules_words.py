"""Words that have a better one here, and lengths."""
import re

from tree import Problem

EVERYWHERE = ("src", "include", "tools", "bench", "examples", "tests")
MAX_FUNCTION_LINES = 70
MAX_FILE_LINES = 400
MAX_COLUMNS = 130
RATCHET = "tests/tidy/ratchet.txt"
DEFINED_WITH_ARGUMENTS = {"HCOMM_ASSERT"}


class Ban:
    def __init__(self, pattern, folders, cure, only=None, spared=()):
        self.pattern = re.compile(pattern)
        self.folders = folders
        self.cure = cure
        self.only = only  # file names
        self.spared = spared


# Looked for in code, not in comments and strings.
BANS = [
    Ban(r"\b(secure_)?getenv\b", ("src", "tools"), "read it in src/base/knobs.cc, as a knob or a launch_variable",
        spared=("src/base/knobs.cc",)),
    Ban(r"\benviron\b", ("src",), "read it in src/base/knobs.cc", spared=("src/base/knobs.cc",)),
    Ban(r"\bstd::(cout|cerr|clog)\b|\b[vfd]?f?printf\s*\(|\bfmt::print\b|\bputs\s*\(", ("src",),
        "use log(), or return a Status"),
    Ban(r"\b(std::)?s?rand\s*\(|\brandom_device\b|\bmt19937", ("src", "tools", "bench", "tests"),
        "use Random with a seed, from base/random.h"),
    Ban(r"\b(usleep|nanosleep|sleep_for|sleep_until)\b", ("src",), "use IdleLadder and Transport::sleep"),
    Ban(r"\bshared_ptr\b", ("src", "include"), "say who owns it: a value, a unique_ptr or a reference", only=r"\.(h|hpp)$",
        spared=("src/transport/hub.h",)),  # which says who
    Ban(r"\bgoto\b", EVERYWHERE, "return early; let destructors clean up"),
    Ban(r"\busing\s+namespace\b", EVERYWHERE, "open the namespace, or name what is used"),
    Ban(r"\bdefault\s*:", ("src", "include", "tools"), "list every case, so that the compiler finds the next one"),
    Ban(r"<cassert>|<assert\.h>|(?<!_)\bassert\s*\(", ("src", "tools"), "use HCOMM_ASSERT, which stays on in release builds"),
]

# Looked for in whole files. Written so that this file does not match itself.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b(?!\(#\d+\))")
PRIVATE_PATHS = re.compile(r"/(?:work|root|home/[a-z]\w*)/|/tmp/[b]-|\.\./shared\b")


def numbered(lines):
    return enumerate(lines, 1)


def no_banned_words(tree):
    for ban in BANS:
        for file in tree.cpp(*ban.folders):
            if file.path in ban.spared or (ban.only and not re.search(ban.only, file.name)):
                continue
            for number, line in numbered(file.code_lines):
                match = ban.pattern.search(line)
                if match:
                    yield Problem(file.path, number, f"'{match.group(0).strip()}' is not used here", ban.cure)


def few_macros(tree):
    for file in tree.cpp():
        for number, line in numbered(file.code_lines):
            match = re.match(r"\s*#\s*define\s+(\w+)\(", line)
            if match and match.group(1) not in DEFINED_WITH_ARGUMENTS:
                yield Problem(file.path, number, f"{match.group(1)} is a macro with arguments",
                              "write a function or a template")


def no_conditions_inside_functions(tree):
    for file in tree.cpp():
        for first, last in file.functions:
            for number in range(first + 1, last):
                if re.match(r"\s*#\s*(if|ifdef|ifndef|elif)\b", file.code_lines[number - 1]):
                    yield Problem(file.path, number, "#if inside a function", "one function per platform, each in its own file")


def nothing_unfinished(tree):
    for file in tree.files.values():
        for number, line in numbered(file.lines):
            if UNFINISHED.search(line):
                yield Problem(file.path, number, "an unfinished word without an issue", "do it, or name the issue: (#123)")


def no_private_paths(tree):
    for file in tree.files.values():
        for number, line in numbered(file.lines):
            match = PRIVATE_PATHS.search(line)
            if match:
                yield Problem(file.path, number, f"'{match.group(0)}' is a path of one machine", "use a path inside the project")


def tidy_lines(tree):
    for file in tree.files.values():
        is_code = file in tree.cpp() or file.name.endswith((".py", ".build"))
        for number, line in numbered(file.lines):
            if is_code and len(line) > MAX_COLUMNS:
                yield Problem(file.path, number, f"{len(line)} columns", f"break the line before column {MAX_COLUMNS}")
            if is_code and re.search(r"\s$|\t", line):
                yield Problem(file.path, number, "a tab, or blanks at the end", "two spaces a level, nothing at the end")


def measured_lengths(tree):
    """name -> (length, limit, line) of all that is too long. A function is path@its first line's text."""
    found = {}
    for file in tree.cpp() + [file for file in tree.files.values() if file.name.endswith(".py")]:
        if len(file.lines) > MAX_FILE_LINES:
            found[file.path] = (len(file.lines), MAX_FILE_LINES, 1)
        for first, last in file.functions if not file.name.endswith(".py") else []:
            if last - first + 1 > MAX_FUNCTION_LINES:
                name = f"{file.path}@{' '.join(file.lines[first - 1].split())}"
                found[name] = (last - first + 1, MAX_FUNCTION_LINES, first)
    return found


def lengths_only_shrink(tree):
    allowed = {}
    for number, line in numbered(tree.text(RATCHET).splitlines()):
        if line and not line.startswith("#"):
            length, _, name = line.partition(" ")
            allowed[name] = (int(length), number)
    found = measured_lengths(tree)
    for name, (length, limit, line) in found.items():
        if length > allowed.get(name, (limit, 0))[0]:
            yield Problem(name.split("@")[0], line, f"{length} lines, where {limit} is the most",
                          "one idea per file and per function; part it")
    for name, (length, number) in allowed.items():
        if name not in found or found[name][0] < length:
            now = found[name][0] if name in found else "short enough"
            yield Problem(RATCHET, number, f"stale: {name} is {now} now", "lower the number, or take the line out")


RULES = [no_banned_words, few_macros, no_conditions_inside_functions, nothing_unfinished, no_private_paths, tidy_lines,
         lengths_only_shrink]
