"""The canary: a rule that never fires is worth nothing.

Each case is a small tree that is clean but for one thing, the rule that must object to it, and a part of its message. Every other
rule must stay silent, so each case also shows that the others do not fire by mistake.
"""
import os
import tempfile

from tree import Tree

FUNCTION_OF_71_LINES = "int f(int a) {\n" + "  a += 1;\n" * 69 + "}\n"
FUNCTION_OF_70_LINES = "int f(int a) {\n" + "  a += 1;\n" * 68 + "}\n"
LONG_FILE = "// a\n" * 401

CLEAN = {
    "include/hcomm/types.h": "#include <stdint.h>\n",
    "include/hcomm/hcomm.hpp": "#include <hcomm/types.h>\n\n#include <vector>\n",
    "src/base/a.h": '// getenv and goto are words of this comment.\n#include "hcomm/types.h"\n',
    "src/base/a.cc": '#include "base/a.h"\nconst char* text = "std::cout << getenv";\nint f(int x) { return x; }\n',
    "src/base/knobs.cc": '#include "base/a.h"\nRow rows[] = {{{"HCOMM_A", "x"}}};\nvoid g() { getenv("HCOMM_A"); }\n',
    "src/base/README.md": "# base\n[the words](../../include/hcomm/types.h)\n",
    "src/base/meson.build": "files('a.cc', 'knobs.cc')\n",
    "src/engine/e.h": '#include "base/a.h"\n#include "transport/t.h"\n',
    "src/engine/README.md": "# engine\n",
    "src/transport/t.h": "namespace hcomm {\n" + FUNCTION_OF_70_LINES + "}\n",
    "src/transport/README.md": "# transport\n",
    "docs/knobs.md": "## HCOMM_A\n",
    "tests/base/a_test.cc": '#include "base/a.h"\nTEST_CASE("a") { directory_iterator("golden"); }\n',
    "tests/base/meson.build": "files('a_test.cc')\n",
    "tests/base/golden/one.schedule": "x\n",
    "tests/tidy/ratchet.txt": "# Nothing.\n",
}

# (the rule, a part of its message, the files that differ)
CASES = [
    ("includes_run_downstairs", "engine includes algos/a.h", {"src/engine/e.h": '#include "algos/a.h"\n'}),
    ("includes_run_downstairs", "verify includes algos/a.h",
     {"src/verify/v.h": '#include "algos/a.h"\n', "src/verify/README.md": "# verify\n"}),
    ("includes_run_downstairs", "base includes engine/e.h", {"src/base/a.h": '#include "engine/e.h"\n'}),
    ("includes_run_downstairs", "includes tools/x.h", {"src/base/a.h": "#include <tools/x.h>\n"}),
    ("includes_run_downstairs", "'attic' is no room", {"src/attic/x.h": "\n", "src/attic/README.md": "# attic\n"}),
    ("ground_floor_knows_types_alone", "base includes hcomm/hcomm.h", {"src/base/a.h": '#include "hcomm/hcomm.h"\n'}),
    ("examples_are_users", "includes base/a.h",
     {"examples/x.c": '#include "base/a.h"\n', "examples/meson.build": "executable('x', 'x.c')\n"}),
    ("public_headers_are_leaves", "includes stdio.h", {"include/hcomm/types.h": "#include <stdio.h>\n"}),
    ("no_banned_words", "getenv", {"src/base/a.h": 'auto x = getenv("A");\n'}),
    ("no_banned_words", "std::cout", {"src/base/a.h": "auto& x = std::cout;\n"}),
    ("no_banned_words", "fprintf", {"src/base/a.h": 'inline void f() { fprintf(stderr, ""); }\n'}),
    ("no_banned_words", "random_device", {"src/base/a.h": "std::random_device x;\n"}),
    ("no_banned_words", "sleep_for", {"src/base/a.h": "using std::this_thread::sleep_for;\n"}),
    ("no_banned_words", "shared_ptr", {"src/base/a.h": "std::shared_ptr<int> x;\n"}),
    ("no_banned_words", "goto",
     {"tests/base/a_test.cc": '#include "base/a.h"\nvoid f() { goto end; }\n// directory_iterator golden\n'}),
    ("no_banned_words", "using namespace", {"src/base/a.h": "using namespace std;\n"}),
    ("no_banned_words", "default:", {"src/base/a.h": "inline int f(E e) { switch (e) { default: return 0; } }\n"}),
    ("no_banned_words", "assert(", {"src/base/a.h": "inline void f() { assert(true); }\n"}),
    ("few_macros", "MAX is a macro", {"src/base/a.h": "#define MAX(a, b) a\n"}),
    ("no_conditions_inside_functions", "#if inside", {"src/base/a.h": "inline int f() {\n#if X\n  return 1;\n#endif\n}\n"}),
    ("nothing_unfinished", "unfinished", {"docs/knobs.md": "## HCOMM_A\nTO" "DO\n"}),
    ("no_private_paths", "of one machine", {"docs/knobs.md": "## HCOMM_A\n/home" "/ann/x\n"}),
    ("tidy_lines", "columns", {"src/base/a.h": "// " + "x" * 128 + "\n"}),
    ("tidy_lines", "a tab", {"src/base/a.h": "int x; \n"}),
    ("lengths_only_shrink", "71 lines", {"src/base/a.h": FUNCTION_OF_71_LINES}),
    ("lengths_only_shrink", "71 lines",
     {"src/base/a.h": "class A {\n  A() : a_{1}, b_(2) {\n" + "    f();\n" * 69 + "  }\n};\n"}),
    ("lengths_only_shrink", "401 lines", {"src/base/a.h": LONG_FILE}),
    ("lengths_only_shrink", "401 lines", {"src/base/a.h": LONG_FILE, "tests/tidy/ratchet.txt": "400 src/base/a.h\n"}),
    ("lengths_only_shrink", "stale", {"src/base/a.h": LONG_FILE, "tests/tidy/ratchet.txt": "402 src/base/a.h\n"}),
    ("lengths_only_shrink", "stale", {"tests/tidy/ratchet.txt": "500 src/base/gone.h\n"}),
    ("every_source_is_built", "no meson.build has it", {"src/base/meson.build": "files('knobs.cc')\n"}),
    ("every_source_is_built", "no meson.build has it", {"src/base/meson.build": "files('aa.cc', 'knobs.cc')\n"}),
    ("every_source_is_tested", "no test includes base/b.h",
     {"src/base/b.h": "\n", "src/base/b.cc": '#include "base/b.h"\n',
      "src/base/meson.build": "files('a.cc', 'b.cc', 'knobs.cc')\n"}),
    ("every_room_has_a_plate", "without a plate", {"src/engine/README.md": None}),
    ("every_room_has_a_plate", "more than 20", {"src/engine/README.md": "x\n" * 21}),
    ("knobs_and_their_page_agree", "HCOMM_A is not described", {"docs/knobs.md": "HCOMM_A\n"}),
    ("knobs_and_their_page_agree", "HCOMM_B is no knob", {"docs/knobs.md": "## HCOMM_A\n## HCOMM_B\n"}),
    ("every_expectation_is_read", "no test reads", {"tests/base/a_test.cc": '#include "base/a.h"\n// golden\n'}),
    ("links_lead_somewhere", "is not there", {"src/base/README.md": "[x](gone.md)\n"}),
]

# Trees that no rule may object to.
HARMLESS = [
    {},
    {"src/base/a.h": FUNCTION_OF_70_LINES},
    {"src/base/a.h": LONG_FILE, "tests/tidy/ratchet.txt": "401 src/base/a.h\n"},
    {"src/base/a.h": "struct A {\n" + "  int x = {1};\n" * 100 + "};\n"},
    {"src/base/a.h": "constexpr int table[] = {\n" + "  1,\n" * 100 + "};\n"},
    {"src/base/a.h": "#if X\ninline int f() { return 1'000; }\n#else\ninline int f() { return '{'; }\n#endif\n"},
    {"src/base/a.h": 'const char* x = R"(goto "default:" )";\nclass A { A() = default; };\n'},
    {"docs/knobs.md": "## HCOMM_A\nTO" "DO(#12)\n[web](https://example.org/x)\n"},
]


def make_tree(root, changes):
    for path, text in (CLEAN | changes).items():
        if text is None:
            continue
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)
    return Tree(root)


def objections(rules, changes):
    """rule's name -> its messages, of the rules that object to the tree."""
    with tempfile.TemporaryDirectory(prefix="hcomm_tidy_") as root:
        tree = make_tree(root, changes)
        found = {rule.__name__: [str(problem) for problem in rule(tree)] for rule in rules}
    return {name: messages for name, messages in found.items() if messages}


def run(rules):
    failures = []
    for rule, part, changes in CASES:
        found = objections(rules, changes)
        if set(found) != {rule} or not any(part in message for message in found[rule]):
            failures.append(f"{rule} should say '{part}' and nobody else anything, but: {found or 'all are silent'}")
    for changes in HARMLESS:
        found = objections(rules, changes)
        if found:
            failures.append(f"nobody should object to {list(changes)}, but: {found}")
    silent = {rule.__name__ for rule in rules} - {rule for rule, _, _ in CASES}
    failures += [f"no case shows that {name} fires" for name in sorted(silent)]
    for failure in failures:
        print(failure)
    print(f"{len(CASES) + len(HARMLESS) - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0
