#!/usr/bin/env python3
"""Helps scripts/test: selects tests of a build folder and adds up what ran.

  test_report.py tests DIR SELECTION     names of the tests, one a line
  test_report.py targets DIR SELECTION   what ninja must build for them, one a line
  test_report.py sum LABEL=LOG... broken=TEXT...
                                         a line per run, the failures, and last "N passed, N failed[, N skipped]"

SELECTION is "all", or names with commas: of suites, without the tidy tests; or of rooms, whose unit tests are meant (a test
belongs to the room that its name begins with). The logs are those of `meson test`, a JSON object a line. What is counted: test
cases where the program says how many ran (Catch2's summary, or a line "N passed, N failed"), else the program as one.
"""
import json
import os
import re
import subprocess
import sys

CATCH_ALL_PASSED = re.compile(r"^All tests passed \(.* in (\d+) test cases?\)", re.M)
CATCH_SOME = re.compile(r"^test cases:\s*(\d+)((?:\s*\|\s*\d+ [a-z ]+)*)", re.M)
OWN_SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\s*$", re.M)


def introspect(folder, what):
    out = subprocess.run(["meson", "introspect", "--" + what, folder], check=True, capture_output=True, text=True)
    return json.loads(out.stdout)


def is_selected(test, selection):
    if selection == "all":
        return True
    wanted = set(selection.split(","))
    suites = {suite.split(":")[-1] for suite in test["suite"]}
    room = re.split(r"[^a-z]", test["name"])[0]
    return (room in wanted and "unit" in suites) or (room != "tidy" and bool(suites & wanted))


def selected_tests(folder, selection):
    return [test for test in introspect(folder, "tests") if is_selected(test, selection)]


def targets_of(folder, tests):
    folder = os.path.realpath(folder)
    files = {target["id"]: target["filename"] for target in introspect(folder, "targets")}
    paths = {path for test in tests for part in test.get("depends", []) for path in files.get(part, [])}
    paths |= {part for test in tests for part in test["cmd"]}
    inside = [os.path.normpath(path) for path in paths if os.path.normpath(path).startswith(folder + os.sep)]
    return sorted({os.path.relpath(path, folder) for path in inside})


def count(test):
    """(passed, failed, skipped) of one entry of a log."""
    output = test.get("stdout", "")
    if test["result"] == "SKIP":
        return 0, 0, 1
    passed = failed = skipped = 0
    whole, some, own = CATCH_ALL_PASSED.search(output), CATCH_SOME.search(output), OWN_SUMMARY.findall(output)
    if whole:
        passed = int(whole.group(1))
    elif some:
        parts = {name.strip(): int(number) for number, name in re.findall(r"(\d+) ([a-z ]+)", some.group(2))}
        failed = parts.get("failed", 0)
        passed = int(some.group(1)) - failed
    elif own:
        passed, failed, skipped = (int(number or 0) for number in own[-1])
    elif test["result"] == "OK":
        passed, skipped = (0, 1) if "No tests ran" in output else (1, 0)
    if test["result"] not in ("OK", "EXPECTEDFAIL") and failed == 0:
        failed = 1  # a crash, a timeout, or a program that failed after its last case
    return passed, failed, skipped


def read_log(path):
    with open(path, encoding="utf-8") as log:
        return [json.loads(line) for line in log if line.strip()]


def sum_up(arguments):
    total = [0, 0, 0]
    for argument in arguments:
        label, _, value = argument.partition("=")
        if label == "broken":
            print(f"FAILED  {value}")
            total[1] += 1
            continue
        tests = read_log(value) if os.path.exists(value) else []
        if not tests:
            print(f"FAILED  {label}: nothing ran, see {value}")
            total[1] += 1
            continue
        counts = [count(test) for test in tests]
        for test, (_, failed, _) in zip(tests, counts):
            if failed:
                print(f"FAILED  {label}: {test['name']} ({test['result']}, {failed} failed), see {value[:-5]}.txt")
        run = [sum(column) for column in zip(*counts)]
        total = [a + b for a, b in zip(total, run)]
        seconds = sum(test["duration"] for test in tests)
        print(f"{label:10} {len(tests):3} programs {run[0]:6} passed {run[1]:4} failed {run[2]:4} skipped {seconds:8.1f} s")
    passed, failed, skipped = total
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 0 if passed > 0 and failed == 0 else 1


def print_lines(lines):
    for line in lines:
        print(line)


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "tests":
        print_lines(test["name"] for test in selected_tests(arguments[1], arguments[2]))
    elif len(arguments) == 3 and arguments[0] == "targets":
        print_lines(targets_of(arguments[1], selected_tests(arguments[1], arguments[2])))
    elif arguments and arguments[0] == "sum":
        return sum_up(arguments[1:])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
