#!/usr/bin/env python3
"""Goal: what is installed is what a user needs: headers, one versioned library with hcomm* symbols alone, pkg-config, and the
Python package, which finds that library.
Method: install into a temporary folder, build examples/hello.c against it with what pkg-config says, and run it.

usage: install_test.py SOURCE_DIR BUILD_DIR
"""
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE, BUILD = sys.argv[1], sys.argv[2]


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, capture_output=True, timeout=120, **options).stdout


def only(root, name):
    found = [str(path) for path in pathlib.Path(root).rglob(name) if not path.is_symlink()]
    assert len(found) == 1, f"{name}: {found}"
    return found[0]


with tempfile.TemporaryDirectory() as root:
    run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", root)
    library = only(root, "libhcomm.so*")
    assert library.endswith("/libhcomm.so.0"), library
    exported = [line.split()[-1].split("@")[0] for line in run("nm", "-D", "--defined-only", library).splitlines()]
    strangers = [name for name in exported if not name.startswith("hcomm") and name != "HCOMM_0"]
    assert not strangers, f"symbols that are not ours to export: {strangers}"
    assert "hcommAllReduce" in exported
    headers = {"elements.hpp", "hcomm.h", "hcomm.hpp", "types.h"}
    assert {path.name for path in pathlib.Path(only(root, "hcomm.h")).parent.iterdir()} == headers
    assert "hcomm::hcomm" in pathlib.Path(only(root, "hcommConfig.cmake")).read_text()

    environment = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(only(root, "hcomm.pc")), PKG_CONFIG_SYSROOT_DIR=root)
    flags = run("pkg-config", "--cflags", "--libs", "hcomm", env=environment).split()
    program = os.path.join(root, "hello")
    run("cc", "-std=c11", os.path.join(SOURCE, "examples", "hello.c"), "-o", program, *flags)
    environment = dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(library))
    told = run(os.path.join(BUILD, "tools", "hcomm"), "run", "-n", "2", "--", program, env=environment)
    assert sorted(told.splitlines()) == ["rank 0 of 2: success, 1", "rank 1 of 2: success, 1"], told
    assert only(root, "hcomm-perf.1").endswith("/man/man1/hcomm-perf.1")
    for name in ("bash-completion/completions/hcomm", "zsh/site-functions/_hcomm", "fish/vendor_completions.d/hcomm.fish"):
        assert os.path.getsize(only(root, "hcomm.1").replace("man/man1/hcomm.1", name)) > 0, name

    package = os.path.dirname(only(root, "_library.py"))  # beside it is a link to the library
    assert os.path.samefile(os.path.join(package, "libhcomm.so.0"), library), package
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(package), PYTHONDONTWRITEBYTECODE="1")
    environment.pop("LD_LIBRARY_PATH", None)  # of meson test
    say = "import hcomm; comm = hcomm.Communicator.from_env(); comm.barrier(); print(hcomm.load())"
    told = run(os.path.join(BUILD, "tools", "hcomm"), "run", "-n", "2", "--", sys.executable, "-c", say, env=environment)
    assert told.splitlines() == [os.path.join(os.path.realpath(package), "libhcomm.so.0")] * 2, told
print("1 passed")
