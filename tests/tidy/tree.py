"""The files of a project as rules see them, and what a rule answers."""
import functools
import os
import re
from dataclasses import dataclass

import cpp_text

TEXT_NAMES = re.compile(r"(\.(cc|h|hpp|c|py|md|build|txt|map|in|schedule|yml)|^(setup|build|demo|test|run|meson_options\.txt))$")
CPP_NAMES = re.compile(r"\.(cc|h|hpp|c)$")


@dataclass(frozen=True)
class Problem:
    path: str
    line: int
    what: str
    cure: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.what}. Cure: {self.cure}."


class File:
    def __init__(self, path, text):
        self.path = path
        self.text = text

    @property
    def folder(self):
        return os.path.dirname(self.path)

    @property
    def name(self):
        return os.path.basename(self.path)

    @functools.cached_property
    def lines(self):
        return self.text.splitlines()

    @functools.cached_property
    def code(self):
        return cpp_text.code_of(self.text)

    @functools.cached_property
    def code_lines(self):
        return self.code.splitlines()

    @functools.cached_property
    def functions(self):
        return cpp_text.functions_of(self.code)

    @functools.cached_property
    def includes(self):
        """(line, name) of each include, with either kind of marks."""
        found = enumerate((re.match(r'\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', line) for line in self.lines), 1)
        return [(number, match.group(1) or match.group(2)) for number, match in found if match]


class Tree:
    def __init__(self, root):
        self.files = {}
        self.paths = set()  # of all files, read or not
        for folder, folders, names in os.walk(root):
            top = folder == root
            folders[:] = sorted(name for name in folders if name not in (".git", "__pycache__", "subprojects")
                                and not (top and name.startswith("build")))
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), root)
                self.paths.add(path)
                if TEXT_NAMES.search(name):
                    with open(os.path.join(root, path), encoding="utf-8") as file:
                        self.files[path] = File(path, file.read())

    def under(self, *folders):
        return [file for path, file in self.files.items() if any(path.startswith(folder + "/") for folder in folders)]

    def cpp(self, *folders):
        folders = folders or ("src", "include", "tools", "bench", "examples", "tests")
        return [file for file in self.under(*folders) if CPP_NAMES.search(file.name)]

    def text(self, path):
        return self.files[path].text if path in self.files else ""
