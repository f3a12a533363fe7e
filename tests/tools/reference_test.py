"""The reference of the C API: doxygen makes it without a complaint, it has every function, and one without a
comment is an error."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
HEADERS = os.path.join(SOURCE, "include", "hcomm")
SKIPPED = 77


def make(headers, output):
    return subprocess.run([sys.executable, os.path.join(SOURCE, "docs", "api_reference.py"), headers, output], text=True,
                          capture_output=True, timeout=100, check=False)


class Reference(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hcomm-reference-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_every_function_is_there(self):
        done = make(HEADERS, self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(os.path.join(self.folder, "html", "hcomm_8h.html"), encoding="utf-8") as file:
            page = re.sub(r"<[^>]*>", "", file.read())
        with open(os.path.join(HEADERS, "hcomm.h"), encoding="utf-8") as file:
            functions = re.findall(r"HCOMM_EXPORT [^(]*?(hcomm\w+)\(", file.read())
        self.assertGreater(len(functions), 20)
        for function in functions:
            self.assertIn(f"&nbsp;{function}()", page)
        self.assertNotIn("hcomm-reference-", page)  # a temporary folder
        self.assertIn("Two threads in one are answered with hcommInvalidUsage", " ".join(page.split()))  # the conventions

    def test_a_function_without_a_comment_is_an_error(self):
        headers = os.path.join(self.folder, "headers")
        shutil.copytree(HEADERS, headers)
        with open(os.path.join(headers, "hcomm.h"), encoding="utf-8") as file:
            text = file.read()
        comment = "/* Returns on no rank before every rank has called it. */\n"
        self.assertIn(comment, text)
        with open(os.path.join(headers, "hcomm.h"), "w", encoding="utf-8") as file:
            file.write(text.replace(comment, ""))
        done = make(headers, os.path.join(self.folder, "out"))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^hcomm\.h:\d+: .*hcommBarrier.*\(function\).* is not documented")
        self.assertEqual(len(done.stderr.splitlines()), 1)


if __name__ == "__main__":
    if shutil.which("doxygen") is None:
        print("skipped: doxygen is not installed")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
