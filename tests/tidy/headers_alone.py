#!/usr/bin/env python3
"""Names the headers that must compile alone, one a line. Headers *_inl.h are parts of a source that is compiled once per
instruction set; they are not meant to."""
import os
import sys


def main(root):
    for top in ("src", "include"):
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                if name.endswith((".h", ".hpp")) and not name.endswith("_inl.h"):
                    print(os.path.relpath(os.path.join(folder, name), os.path.join(root, top)))


if __name__ == "__main__":
    main(sys.argv[1])
