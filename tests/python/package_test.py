"""Where the library is looked for, what is said when it is not there, and a wheel made without a network."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import rig

import hcomm

PACKAGE = os.path.dirname(os.path.abspath(hcomm.__file__))
LIBRARY = hcomm.load()
SHOW = "import hcomm; print(hcomm.load()); print(hcomm.version())"


def python(program, *words, path):
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run([sys.executable, "-c", program, *words], text=True, capture_output=True, env=environment, timeout=60,
                          check=False)


class Finding(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hcomm-python-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        shutil.copytree(PACKAGE, os.path.join(self.folder, "hcomm"), ignore=shutil.ignore_patterns("__pycache__"))

    def test_that_of_the_build_tree(self):
        self.assertEqual(os.path.basename(LIBRARY), "libhcomm.so.0")
        self.assertEqual(os.path.realpath(LIBRARY), os.path.realpath(os.path.join(PACKAGE, "../../../src/libhcomm.so.0")))

    def test_one_beside_the_package(self):
        beside = os.path.join(self.folder, "hcomm", "libhcomm.so.0")
        os.symlink(LIBRARY, beside)
        done = python(SHOW, path=self.folder)
        self.assertEqual(done.stdout.splitlines()[0], os.path.realpath(os.path.dirname(beside)) + "/libhcomm.so.0", done.stderr)

    def test_one_that_is_given(self):
        done = python("import hcomm, sys; print(hcomm.load(sys.argv[1]), hcomm.version())", LIBRARY, path=self.folder)
        self.assertEqual(done.stdout, f"{LIBRARY} {hcomm.version()}\n", done.stderr)

    def test_none(self):
        done = python(SHOW, path=self.folder)
        if done.returncode == 0:
            self.skipTest("the system's loader finds a libhcomm.so.0 of its own")
        self.assertIn("libhcomm.so.0 is not found", done.stderr)
        self.assertIn("hcomm.load(path)", done.stderr)
        self.assertIn(os.path.join(self.folder, "hcomm"), done.stderr)

    def test_one_that_is_none(self):
        done = python("import hcomm; hcomm.load('libc.so.6')", path=self.folder)
        self.assertIn("libc.so.6 has no hcommGetVersion", done.stderr)
        done = python("import hcomm; hcomm.load('/nowhere.so')", path=self.folder)
        self.assertIn("/nowhere.so", done.stderr)

    def test_of_another_version(self):
        with open(os.path.join(self.folder, "hcomm", "_version.py"), "w", encoding="utf-8") as file:
            file.write('__version__ = "7.1.0"\n')
        done = python("import hcomm, sys; hcomm.load(sys.argv[1])", LIBRARY, path=self.folder)
        self.assertIn("this package is 7.1.0; install both from one source", done.stderr)

    def test_another_one_too_late(self):
        with self.assertRaises(OSError) as caught:
            hcomm.load("/other/libhcomm.so.0")
        self.assertIn("is loaded already", str(caught.exception))
        self.assertEqual(hcomm.load(LIBRARY), LIBRARY)

    def test_importing_loads_nothing(self):
        done = python("import hcomm, sys; print('numpy' in sys.modules, hcomm.__version__)", path=self.folder)
        self.assertEqual(done.stdout, f"False {hcomm.__version__}\n", done.stderr)


class Example(unittest.TestCase):
    def test_it_says_what_the_tutorial_says(self):
        rig.need_numpy()
        done = rig.run_ranks(4, os.path.join(rig.SOURCE, "examples", "hello.py"))
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = sorted(done.stdout.splitlines())
        self.assertEqual(lines, [f"rank {rank} of 4: 6, [0, 1, 4, 9]" for rank in range(4)])
        with open(os.path.join(rig.SOURCE, "docs", "tutorial.md"), encoding="utf-8") as file:
            self.assertIn("\n".join(lines), file.read())


class Wheel(unittest.TestCase):
    def test_a_wheel_has_the_package(self):
        for needed in ("pip", "setuptools", "wheel"):
            if subprocess.run([sys.executable, "-c", f"import {needed}"], capture_output=True, check=False).returncode:
                self.skipTest(f"{sys.executable} has no {needed}")
        with tempfile.TemporaryDirectory(prefix="hcomm-wheel-") as folder:
            source = os.path.join(folder, "source")
            shutil.copytree(os.path.join(rig.SOURCE, "bindings", "python"), source)
            done = subprocess.run([sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index",
                                   "--disable-pip-version-check", "-w", folder, source], text=True, capture_output=True,
                                  timeout=240, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            wheel, = glob.glob(os.path.join(folder, "*.whl"))
            self.assertEqual(os.path.basename(wheel), f"hcomm-{hcomm.__version__}-py3-none-any.whl")
            with zipfile.ZipFile(wheel) as file:
                names = {name for name in file.namelist() if name.startswith("hcomm/")}
        self.assertEqual(names, {"hcomm/" + os.path.basename(path) for path in glob.glob(os.path.join(PACKAGE, "*.py"))})


if __name__ == "__main__":
    rig.main()
