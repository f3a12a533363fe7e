"""How `hcomm run` starts and ends ranks: exit codes, messages, and nobody left behind."""
import fcntl
import os
import signal
import subprocess
import tempfile
import termios
import time

import harness
from harness import Marked, eventually, hcomm


def shell(ranks, script, *options, **more):
    return hcomm("run", "-n", str(ranks), *options, "--", "sh", "-c", script, **more)


ONLY_RANK_1 = 'if [ "$HCOMM_RANK" = 1 ]; then {}; fi; {}'


class ExitCodes(harness.ToolsTest):
    def check(self, run, code, *words):
        self.assertEqual(run.code, code, run.err)
        for word in words:
            self.assertIn(word, run.err.decode())
        self.assert_nobody_left(run)

    def test_all_well(self):
        run = shell(3, 'echo "$HCOMM_RANK/$HCOMM_SIZE ${#HCOMM_JOB}"')
        self.check(run, 0)
        self.assertEqual(sorted(run.out.split(b"\n")), [b"", b"0/3 256", b"1/3 256", b"2/3 256"])
        self.assertEqual(run.err, b"")

    def test_a_rank_that_ends_early_and_well_ends_nobody(self):
        run = shell(3, ONLY_RANK_1.format("exit 0", "sleep 0.3; echo done"))
        self.check(run, 0)
        self.assertEqual(run.out, b"done\ndone\n")

    def test_the_first_failure_decides(self):
        start = time.monotonic()
        self.check(shell(3, ONLY_RANK_1.format("exit 3", "sleep 30")), 3, "rank 1 (pid ", "exited with code 3")
        self.assertLess(time.monotonic() - start, 15)

    def test_signals(self):
        for name, number in (("SEGV", 11), ("KILL", 9), ("ABRT", 6), ("TERM", 15)):
            with self.subTest(signal=name):
                run = shell(3, ONLY_RANK_1.format(f"kill -{name} $$", "sleep 30"))
                self.check(run, 128 + number, "rank 1 (pid ", f"signal {number} (SIG{name})")

    def test_a_rank_that_ignores_sigterm_is_killed_after_the_grace(self):
        start = time.monotonic()
        run = shell(2, ONLY_RANK_1.format("exit 4", 'trap "" TERM; sleep 30; sleep 30'), "--grace", "300ms")
        self.check(run, 4)
        self.assertLess(time.monotonic() - start, 15)

    def test_keep_going_lets_survivors_finish(self):
        run = shell(3, ONLY_RANK_1.format("exit 3", "sleep 0.4; echo survivor"), "--keep-going")
        self.check(run, 3, "rank 1")
        self.assertEqual(run.out, b"survivor\nsurvivor\n")
        self.assertNotIn(b"ending", run.err)

    def test_programs_that_cannot_run(self):
        self.check(hcomm("run", "-n", "2", "--", "no-such-program"), 127, "no program 'no-such-program'")
        self.check(hcomm("run", "-n", "2", "--", "./no/such"), 127, "./no/such")
        with tempfile.TemporaryDirectory() as folder:
            plain = os.path.join(folder, "plain")
            with open(plain, "w") as file:
                file.write("echo $HCOMM_RANK\n")
            self.check(hcomm("run", "-n", "2", "--", plain), 126, plain, "not executable")
            self.check(hcomm("run", "-n", "2", "--", folder), 126, "folder")
            os.chmod(plain, 0o755)  # a script without an interpreter line runs in sh, as everywhere
            run = hcomm("run", "-n", "2", "--", plain)
            self.check(run, 0)
            self.assertEqual(sorted(run.out.split()), [b"0", b"1"])
            lost = os.path.join(folder, "lost")
            with open(lost, "w") as file:
                file.write("#!/no/such/interpreter\n")
            os.chmod(lost, 0o755)
            self.assertIn(hcomm("run", "-n", "2", "--", lost).code, (126, 127))

    def test_the_words_of_the_program_are_its_own(self):
        run = hcomm("run", "-n", "1", "--", "echo", "-n", "5", "--keep-going", "--", "x")
        self.assertEqual(run.out, b"5 --keep-going -- x")
        run = hcomm("run", "-n", "1", "echo", "-n", "5", "--prefix")
        self.assertEqual(run.out, b"5 --prefix")

    def test_grandchildren_are_ended(self):
        for script in (
            "sleep 60 & exit 0",
            "setsid sleep 60 & exit 0",
            "(setsid sleep 60 &) & exit 0",
            "setsid sh -c 'trap \"\" TERM; sleep 60; sleep 60' & exit 0",
        ):
            with self.subTest(script=script):
                run = shell(2, script, "--grace", "300ms")
                self.check(run, 0, "left behind")

    def test_many_ranks(self):
        run = shell(64, "echo $HCOMM_RANK")
        self.check(run, 0)
        self.assertEqual(sorted(int(line) for line in run.out.split()), list(range(64)))

    def test_ranks_start_as_the_launcher_was_started(self):
        run = shell(2, "ulimit -n; grep -E '^Sig(Blk|Ign)' /proc/self/status; ls /proc/self/fd | wc -l", "--prefix")
        plain = subprocess.run(["sh", "-c", "ulimit -n"], capture_output=True, text=True).stdout.strip()
        for rank in (b"[0] ", b"[1] "):
            lines = [line[4:] for line in run.out.splitlines() if line.startswith(rank)]
            self.assertEqual(lines[0].decode(), plain)
            self.assertEqual(lines[1].split()[1], b"0" * 16)
            self.assertLessEqual(int(lines[3]), 4)  # 0, 1, 2 and the folder itself


class Signals(harness.ToolsTest):
    def start(self, script="echo up; exec sleep 60", *options):
        run = Marked(["run", "-n", "3", *options, "--", "sh", "-c", script])
        for _ in range(3):
            self.assertEqual(run.process.stdout.readline(), b"up\n")
        return run

    def test_signals_to_the_launcher_end_the_job(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(signal=number):
                run = self.start()
                run.process.send_signal(number)
                run.finish()
                self.assertEqual(run.code, 128 + number)
                self.assert_nobody_left(run)

    def test_ranks_can_clean_up_when_told(self):
        run = self.start("trap 'echo bye; exit 0' TERM; echo up; sleep 60 & wait")
        run.process.terminate()
        run.finish()
        self.assertEqual(run.code, 128 + signal.SIGTERM)
        self.assertEqual(run.out, b"bye\nbye\nbye\n")
        self.assert_nobody_left(run)

    def test_user_signals_are_passed_on(self):
        run = self.start("trap 'echo got; exit 0' USR1; echo up; sleep 60 & wait")
        run.process.send_signal(signal.SIGUSR1)
        run.finish()
        self.assertEqual((run.code, run.out), (0, b"got\ngot\ngot\n"))
        self.assert_nobody_left(run)

    def test_an_impatient_user_need_not_wait_for_the_grace(self):
        run = self.start("trap '' TERM INT; echo up; sleep 60; sleep 60", "--grace", "50s")
        start = time.monotonic()
        run.process.send_signal(signal.SIGINT)
        time.sleep(1)
        run.process.send_signal(signal.SIGINT)
        run.finish()
        self.assertLess(time.monotonic() - start, 20)
        self.assert_nobody_left(run)

    def test_the_group_of_the_launcher_is_not_harmed(self):
        run = hcomm("run", "-n", "2", "--", "sh", "-c", ONLY_RANK_1.format("exit 3", "sleep 30"))
        self.assertEqual(run.code, 3)  # and this test, of the same group, still runs
        self.assertEqual(os.system(f"timeout 60 {harness.HCOMM} run -n 2 -- true"), 0)

    def test_a_group_wide_signal_counts_once(self):
        script = "trap 'echo bye; exit 0' TERM; echo up; sleep 60 & wait"
        run = Marked(["run", "-n", "2", "--", "sh", "-c", script], start_new_session=True)
        for _ in range(2):
            self.assertEqual(run.process.stdout.readline(), b"up\n")
        os.killpg(run.process.pid, signal.SIGTERM)
        run.finish()
        self.assertEqual(run.code, 128 + signal.SIGTERM)
        self.assert_nobody_left(run)


class Terminals(harness.ToolsTest):
    """A job in the foreground of a terminal of its own."""

    def start(self, script):
        self.master, terminal = os.openpty()
        options = {"stdin": terminal, "stdout": terminal, "stderr": terminal, "start_new_session": True}
        run = Marked(["run", "-n", "3", "--", "sh", "-c", script], preexec_fn=self.own_terminal, **options)
        os.close(terminal)
        self.text = b""
        while self.text.count(b"up") < 3:
            self.text += os.read(self.master, 1000)
        return run

    @staticmethod
    def own_terminal():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def test_control_c_reaches_each_rank_once(self):
        run = self.start("trap 'echo got; exit 0' INT; echo up; sleep 60 & wait")
        os.write(self.master, b"\x03")
        self.assertEqual(run.process.wait(timeout=60), 128 + signal.SIGINT)
        self.text += os.read(self.master, 10000)
        os.close(self.master)
        self.assertEqual(self.text.count(b"got"), 3)
        self.assert_nobody_left(run)

    def test_a_terminal_that_goes_away_ends_the_job(self):
        run = self.start("echo up; sleep 60")
        os.close(self.master)
        self.assertEqual(run.process.wait(timeout=60), 128 + signal.SIGHUP)
        self.assert_nobody_left(run)


class Deaths(harness.ToolsTest):
    SCRIPT = "setsid sleep 60 & echo up; sleep 60 & wait"

    def test_the_launcher_killed_at_any_moment_leaves_nobody(self):
        for turn in range(25):
            run = Marked(["run", "-n", "4", "--", "sh", "-c", self.SCRIPT])
            time.sleep(turn * 0.002)
            run.process.kill()
            run.process.wait()
            with self.subTest(milliseconds=turn * 2):
                self.assert_nobody_left(run)
            run.process.stdout.close()
            run.process.stderr.close()

    def test_the_supervisor_killed_leaves_nobody_and_is_told(self):
        run = Marked(["run", "-n", "3", "--", "sh", "-c", self.SCRIPT])
        for _ in range(3):
            self.assertEqual(run.process.stdout.readline(), b"up\n")
        with open(f"/proc/{run.process.pid}/task/{run.process.pid}/children") as file:
            supervisor = int(file.read().split()[0])
        os.kill(supervisor, signal.SIGKILL)
        run.finish()
        self.assertEqual(run.code, 128 + signal.SIGKILL)
        self.assertIn(b"supervisor", run.err)
        self.assert_nobody_left(run)

    def test_a_stopped_rank_can_be_ended(self):
        run = Marked(["run", "-n", "2", "--grace", "300ms", "--", "sh", "-c", "echo up; kill -STOP $$"])
        for _ in range(2):
            self.assertEqual(run.process.stdout.readline(), b"up\n")
        self.assertTrue(eventually(lambda: len(run.living()) >= 4))
        run.process.terminate()
        run.finish()
        self.assertEqual(run.code, 128 + signal.SIGTERM)
        self.assert_nobody_left(run)


if __name__ == "__main__":
    harness.main()
