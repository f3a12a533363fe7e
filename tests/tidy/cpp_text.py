"""Enough of C++ to look at its text: code without comments and strings, and where functions begin and end."""
import re

LITERALS = re.compile(
    r"""(?P<raw>R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)")"""
    r"""|(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)"""
    r"""|(?P<text>"(?:\\.|[^"\\\n])*")|(?P<letter>(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+')""",
    re.S)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum)\b|\bextern\s*$")
BRACED_VALUE = re.compile(r"[\w>\])]$")


def blank(match):
    """As many characters and lines as before, but none that means anything."""
    text = match.group(0)
    kept = '""' if match.group("text") or match.group("raw") else ""
    return kept + re.sub(r"[^\n]", " ", text[len(kept):])


def code_of(text):
    return LITERALS.sub(blank, text)


def without_preprocessor(code):
    return re.sub(r"(?m)^[ \t]*#(?:\\\n|[^\n])*", lambda match: re.sub(r"[^\n]", " ", match.group(0)), code)


def opens_function(heading):
    """heading: what stands between the last statement and a brace at the level of namespaces and classes."""
    outside = heading
    while True:  # innermost parentheses first
        shorter = re.sub(r"\([^()]*\)", "", outside)
        if shorter == outside:
            break
        outside = shorter
    is_value = "=" in outside and "operator" not in outside
    return ")" in heading and not is_value and not SCOPE.search(heading.split("(")[0])


def functions_of(code):
    """(first line, last line) of every function body, from 1. Lambdas and local classes count to the function they are in."""
    found = []
    kinds = []  # of the braces that are open: scope, function, inner, value
    line = first_line = 1
    heading_start = 0
    code = without_preprocessor(code)
    for at, letter in enumerate(code):
        if letter == "\n":
            line += 1
        elif letter == "{":
            heading = code[heading_start:at]
            in_scopes = all(kind == "scope" for kind in kinds)
            if not in_scopes:
                kinds.append("inner")
            elif BRACED_VALUE.search(heading) and not heading.endswith(")"):
                kinds.append("value")
                continue
            elif opens_function(heading):
                kinds.append("function")
                first_line = line - heading.lstrip().count("\n")
            else:
                kinds.append("scope")
            heading_start = at + 1
        elif letter == "}":
            kind = kinds.pop() if kinds else "scope"
            if kind == "function":
                found.append((first_line, line))
            if kind != "value":
                heading_start = at + 1
        elif letter == ";" and all(kind == "scope" for kind in kinds):
            heading_start = at + 1
    return found
