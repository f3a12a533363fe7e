"""Manual pages and completion have every command and every option that --help has, and the shells take them."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import harness
from harness import hcomm


def commands():
    """The commands that `hcomm --help` lists."""
    text = hcomm("--help").out.decode()
    return re.findall(r"(?m)^  (\w+) ", text[text.index("Subcommands:"):])


def options(*command):
    """The options that --help lists: -b and --minbytes of '  -b,--minbytes SIZE ...'."""
    found = re.findall(r"(?m)^  (-[^ ]+)", hcomm(*command, "--help").out.decode())
    return [name for names in found for name in names.split(",")]


def needs(program):
    return unittest.skipIf(shutil.which(program) is None, f"{program} is not installed")


class Pages(harness.ToolsTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="hcomm-pages-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        run = hcomm("manual", folder.name)
        assert run.code == 0, run.err
        cls.commands = commands()

    def page(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def test_help_was_read(self):
        self.assertTrue({"run", "perf", "plan", "verify", "env", "completion"} <= set(self.commands))
        self.assertTrue({"-b", "--minbytes", "--json", "-h"} <= set(options("perf")))

    def test_a_page_for_every_command(self):
        self.assertEqual(set(os.listdir(self.folder)), {"hcomm.1", *(f"hcomm-{name}.1" for name in self.commands)})
        for name in self.commands:
            self.assertIn(f"hcomm\\-{name}", self.page("hcomm.1"))

    def test_the_build_makes_and_installs_all_of_them(self):
        pages = os.path.join(os.path.dirname(harness.HCOMM), "pages")
        self.assertEqual({name for name in os.listdir(pages) if name.endswith(".1")}, set(os.listdir(self.folder)),
                         "list the command in tools/pages/meson.build")
        for name in os.listdir(self.folder):
            with open(os.path.join(pages, name), encoding="utf-8") as file:
                self.assertEqual(file.read(), self.page(name))

    def test_every_option_is_in_its_page(self):
        for command in [[], *([name] for name in self.commands)]:
            page = self.page("-".join(["hcomm", *command]) + ".1")
            for option in options(*command):
                self.assertIn("\\fB" + option.replace("-", "\\-") + "\\fR", page, (command, option))

    def test_every_setting_is_in_the_page(self):
        names = re.findall(r"(?m)^(HCOMM_\w+)", hcomm("env").out.decode())
        self.assertGreater(len(names), 10)
        for name in names:
            self.assertIn(f"\\fB{name}\\fR", self.page("hcomm.1"))

    @needs("groff")
    def test_the_pages_are_good_roff(self):
        for name in sorted(os.listdir(self.folder)):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", os.path.join(self.folder, name)], text=True,
                                  capture_output=True, check=True, timeout=60)
            self.assertEqual(done.stderr, "", name)
            self.assertIn("hcomm", done.stdout)

    def test_a_folder_that_is_not_there(self):
        run = hcomm("manual", "/nowhere")
        self.assertEqual(run.code, 2)
        self.assertIn(b"cannot write '/nowhere/hcomm.1': No such file", run.err)


class Completion(harness.ToolsTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="hcomm-completion-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        for shell in ("bash", "zsh", "fish"):
            with open(cls.script(shell), "wb") as file:
                file.write(hcomm("completion", shell).out)
        with open(os.path.join(cls.folder, "a file"), "w", encoding="utf-8"):
            pass

    @classmethod
    def script(cls, shell):
        return os.path.join(cls.folder, "hcomm." + shell)

    def bash(self, *words):
        """What bash would offer for the last of the words behind hcomm."""
        program = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hcomm; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", program, "bash", self.script("bash"), "hcomm", *words], text=True, timeout=60,
                              capture_output=True, check=True, cwd=self.folder)
        self.assertEqual(done.stderr, "")
        return done.stdout.split("\n")[:-1]

    def fish(self, words):
        program = f"source {self.script('fish')}; complete -C '{words}'"
        done = subprocess.run(["fish", "--no-config", "-c", program], text=True, timeout=60, capture_output=True, check=True,
                              cwd=self.folder)
        self.assertEqual(done.stderr, "")
        return [line.split("\t")[0] for line in done.stdout.splitlines()]

    def test_every_option_is_offered_by_bash(self):
        self.assertEqual(set(self.bash("")), {*commands(), *options()})
        for command in commands():
            self.assertEqual(set(self.bash(command, "-")), set(options(command)), command)

    def test_bash(self):
        self.assertEqual(self.bash("pe"), ["perf"])
        self.assertEqual(self.bash("perf", "allr"), ["allreduce"])
        self.assertEqual(self.bash("perf", "allreduce", "--mem"), ["--memory"])
        self.assertEqual(self.bash("perf", "allreduce", "--memory", ""), ["shared", "private"])
        self.assertEqual(self.bash("perf", "allreduce", "--memory", "=", "sh"), ["shared"])
        self.assertEqual(self.bash("perf", "-t", "bf"), ["bfloat16"])
        self.assertEqual(self.bash("perf", "-n", "1"), [""])
        self.assertEqual(self.bash("perf", "--json", "a"), ["a file"])
        self.assertEqual(self.bash("verify", "a"), ["a file"])
        self.assertIn("true", self.bash("run", "-n", "2", "--", "tru"))
        self.assertEqual(self.bash("nonsense", ""), [""])

    @needs("fish")
    def test_fish(self):
        self.assertEqual(set(self.fish("hcomm ")), set(commands()))
        for command in commands():
            long = {name for name in options(command) if name.startswith("--")}
            self.assertEqual(set(self.fish(f"hcomm {command} --")), long, command)
        self.assertEqual(self.fish("hcomm perf allreduce --memory "), ["private", "shared"])
        self.assertEqual(self.fish("hcomm plan allr"), ["allreduce"])

    @needs("zsh")
    def test_zsh_takes_it(self):
        subprocess.run(["zsh", "-n", self.script("zsh")], check=True, timeout=60)
        program = f"autoload -U compinit; compinit -D -u; source {self.script('zsh')}; print $_comps[hcomm]"
        done = subprocess.run(["zsh", "-f", "-c", program], text=True, capture_output=True, check=True, timeout=60)
        self.assertEqual((done.stdout, done.stderr), ("_hcomm\n", ""))

    def test_zsh_has_every_option(self):
        with open(self.script("zsh"), encoding="utf-8") as file:
            text = file.read()
        for command in commands():
            part = text[text.index(f"        {command})\n"):]
            part = part[:part.index(";;\n")]
            for option in options(command):
                self.assertRegex(part, rf"['{{,]{option}[\[,}}]", command)

    def test_a_shell_that_is_not_known(self):
        run = hcomm("completion", "bsh")
        self.assertEqual(run.code, 2)
        self.assertIn(b"did you mean 'bash'", run.err)


if __name__ == "__main__":
    harness.main()
