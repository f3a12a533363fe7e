#!/usr/bin/env python3
"""Makes the reference of the C API, as HTML, of the comments in hcomm.h and types.h. Exit codes: 1 if doxygen complains or a
function has no comment, 77 if there is no doxygen.

usage: api_reference.py HEADERS_DIR OUTPUT_DIR      OUTPUT_DIR/html/index.html is the first page"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HEADERS = ("hcomm.h", "types.h")
NO_DOXYGEN = 77
# Names and numbers of a list may speak for themselves; functions may not.
SPEAKS_FOR_ITSELF = re.compile(r"\((enumvalue|variable|macro definition|typedef)\).* is not documented")


def marked(text):
    """The header with its comments as doxygen knows them: that of the file, those before something, those behind something."""
    text = re.sub(r"\A/\* \w+/(\S+): ", r"/** @file \1\n * ", text)
    text = re.sub(r"(?m)^ \* (\d\d\. )", r" *  \1", text)  # items of a list begin in one column
    text = re.sub(r"(?m)^/\* (?!-)", "/** ", text)
    return re.sub(r"(?m)^(  \w[^/\n]*)/\* ", r"\1/**< ", text)


def make(headers, output):
    """What doxygen complains about, a list of lines."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "Doxyfile"), encoding="utf-8") as file:
        settings = file.read()
    os.makedirs(output, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="hcomm-reference-") as temporary:
        folder = os.path.join(temporary, "hcomm")  # this name is shown
        os.mkdir(folder)
        for name in HEADERS:
            with open(os.path.join(headers, name), encoding="utf-8") as source, \
                 open(os.path.join(folder, name), "w", encoding="utf-8") as target:
                target.write(marked(source.read()))
        settings += f'INPUT = "{folder}"\nSTRIP_FROM_PATH = "{temporary}"\nOUTPUT_DIRECTORY = "{output}"\n'
        done = subprocess.run(["doxygen", "-"], input=settings, text=True, capture_output=True, check=False)
        complaints = [line.replace(folder + os.sep, "") for line in done.stderr.splitlines()
                      if line.strip() and not SPEAKS_FOR_ITSELF.search(line)]
    return complaints + ([f"doxygen ended with exit code {done.returncode}"] if done.returncode else [])


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    if shutil.which("doxygen") is None:
        print("doxygen is not installed; install your distribution's package of that name to make the reference", file=sys.stderr)
        return NO_DOXYGEN
    complaints = make(*arguments)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
