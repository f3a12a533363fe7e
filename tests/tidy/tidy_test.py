#!/usr/bin/env python3
"""What docs/style.md lets a machine check. Each message gives file, line and cure.

  tidy_test.py [ROOT]     looks at the project
  tidy_test.py --self-test   shows on small made-up projects that each rule fires, and only where it should
"""
import os
import sys

import rules_includes
import rules_order
import rules_words
import self_test
from tree import Tree

RULES = rules_includes.RULES + rules_words.RULES + rules_order.RULES


def look_at(root):
    tree = Tree(root)
    failed = 0
    for rule in RULES:
        problems = list(rule(tree))
        failed += 1 if problems else 0
        for problem in problems:
            print(problem)
    print(f"{len(RULES) - failed} passed, {failed} failed")
    return 1 if failed else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test.run(RULES)
    root = arguments[0] if arguments else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    return look_at(os.path.abspath(root))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
