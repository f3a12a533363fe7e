"""Jobs whose ranks die, stop, come late, leave early, or whose clock jumps; and the launcher in pipelines."""
import os
import random
import re
import shlex
import signal
import subprocess
import time

import cases_harness
import harness
from cases_harness import CasesTest, Wrapped, job_command


class Deaths(CasesTest):
    def start_loop(self, ranks, seconds, *options, environment=None):
        run = Wrapped(job_command(ranks, "loop", seconds, options=options), environment)
        pids = {}
        for _ in range(ranks):
            words = run.process.stdout.readline().split()
            pids[int(words[1])] = int(words[3])
        self.assertEqual(len(pids), ranks)
        return run, pids

    def test_B074_a_killed_rank_ends_the_job_with_its_signal(self):
        drawn = random.Random(74)
        for turn in range(10):
            run, pids = self.start_loop(4, 50)
            victim = drawn.randrange(4)
            time.sleep(drawn.random() * 0.03)
            os.kill(pids[victim], signal.SIGKILL)
            run.finish()
            with self.subTest(turn=turn):
                self.assertEqual(run.code, 128 + signal.SIGKILL, run.err)
                self.assertIn(f"rank {victim} (pid {pids[victim]})", run.err.decode())
                self.assert_nobody_left(run)

    def test_B074_survivors_that_are_left_alone_name_the_dead_and_end(self):
        run, pids = self.start_loop(4, 50, "--keep-going")
        os.kill(pids[2], signal.SIGKILL)
        run.finish()
        self.assertEqual(run.code, 128 + signal.SIGKILL, run.err)
        for rank in (0, 1, 3):
            self.assertRegex(run.err.decode(), rf"rank {rank} pid \d+: .*rank 2 \(pid {pids[2]}\) died")
        self.assert_nobody_left(run)

    def stop_for_two_seconds(self, environment=None):
        run, pids = self.start_loop(3, 4, environment=environment)
        time.sleep(0.5)
        os.kill(pids[2], signal.SIGSTOP)
        time.sleep(2)
        os.kill(pids[2], signal.SIGCONT)
        run.finish()
        self.assert_nobody_left(run)
        return run, pids[2]

    def test_B080_a_rank_that_is_stopped_for_less_than_the_timeout_loses_nothing(self):
        run, _ = self.stop_for_two_seconds()
        self.assert_right(run, 3)
        self.assertNotIn("has waited", run.err.decode())

    def test_B080_a_rank_that_is_stopped_for_longer_is_named(self):
        run, pid = self.stop_for_two_seconds({"HCOMM_PEER_TIMEOUT": "500ms"})
        if run.code == 0:  # it was stopped between two calls
            self.assertRegex(run.err.decode(), rf"has waited \d+ ms in operation \d+, .* for rank 2 \(pid {pid}, whose latest")
        else:
            self.assertEqual(run.code, 3)
            self.assertRegex(run.err.decode(), rf"rank 2 \(pid {pid}\) is stuck")

    def test_B080_a_late_rank_is_named_in_one_warning_of_each_that_waits(self):
        run = self.run_job(3, "late", 2000, environment={"HCOMM_PEER_TIMEOUT": "500ms"})
        self.assert_right(run, 3)
        warnings = [line for line in run.err.decode().splitlines() if "has waited" in line]
        self.assertEqual(len(warnings), 2, run.err)
        for line in warnings:
            self.assertRegex(line, r"in operation 1, allreduce\(.*\) for rank 1 \(pid \d+, whose latest call is operation 0, ")

    def test_B083_a_replacement_of_a_dead_rank_is_told_and_troubles_nobody(self):
        run, pids = self.start_loop(3, 2)
        with open(f"/proc/{pids[2]}/environ", "rb") as file:
            variables = dict(entry.split(b"=", 1) for entry in file.read().split(b"\0") if b"=" in entry)
        environment = {name.decode(): value.decode() for name, value in variables.items() if name.startswith(b"HCOMM_")}
        environment["HCOMM_CONNECT_TIMEOUT"] = "20s"
        for rank in ("2", "0"):
            late = self.run_command([cases_harness.RANK, "sum", "8", "1", "0"], dict(environment, HCOMM_RANK=rank))
            self.assertEqual(late.code, 3, late.err)
            self.assertIn("one too many", late.err.decode())
        environment.update(HCOMM_SIZE="4", HCOMM_RANK="3")
        other_size = self.run_command([cases_harness.RANK, "sum", "8", "1", "0"], environment)
        self.assertEqual(other_size.code, 3, other_size.err)
        run.finish()
        self.assert_right(run, 3)

    def test_B086_the_launchers_ranks_keep_the_timeout(self):
        run = self.run_job(3, "late", 8000, environment={"HCOMM_TIMEOUT": "300ms"})
        self.assertEqual(run.code, 3)
        self.assertRegex(run.err.decode(), r"rank 1\b")

    def test_B022_several_communicators_of_one_job_in_changing_order(self):
        for count in (2, 5, 8):
            with self.subTest(communicators=count):
                self.assert_right(self.run_job(3, "many", count, 3000), 3)


class Leaving(CasesTest):
    def test_B082_a_process_may_end_in_any_way_after_its_last_call(self):
        for how in ("exit", "atexit", "shut"):
            for turn in range(5):
                with self.subTest(how=how, turn=turn):
                    self.assert_right(self.run_job(4, "leave", how), 4)


class Clock(CasesTest):
    def shifted(self, seconds, timeout, late):
        environment = {"LD_PRELOAD": cases_harness.SHIFT, "SHIFT_SECONDS": str(seconds), "HCOMM_TIMEOUT": timeout}
        start = time.monotonic()
        run = self.run_job(3, "late", late, environment=environment)
        return run, time.monotonic() - start

    def test_B091_a_jump_of_the_wall_clock_makes_no_wait_shorter_or_longer(self):
        for seconds in (3600, -3600):
            with self.subTest(shift=seconds):
                run, _ = self.shifted(seconds, "30s", 2000)
                self.assert_right(run, 3)
                run, took = self.shifted(seconds, "2s", 50_000)
                self.assertEqual(run.code, 3, run.err)
                self.assertIn("rank 1", run.err.decode())
                self.assertGreater(took, 1.9)
                self.assertLess(took, 40)


class Pipelines(CasesTest):
    def check(self, script):
        run = self.run_command(["sh", "-c", script.format(hcomm=shlex.quote(harness.HCOMM))])
        self.assertEqual(run.code, 0, run.err)
        return run

    def test_B134_in_a_pipeline_in_the_background_and_under_nohup(self):
        run = self.check("{hcomm} run -n 3 -- sh -c 'echo $HCOMM_RANK' | tee /dev/stderr | sort")
        self.assertEqual(run.out, b"0\n1\n2\n")
        self.assertEqual(sorted(run.err), sorted(run.out))
        run = self.check("{hcomm} run -n 2 -- sh -c 'cat; echo x' <&- & wait $!")
        self.assertEqual(run.out, b"x\nx\n")
        run = self.check("nohup {hcomm} run -n 2 -- echo x | cat")
        self.assertEqual(run.out, b"x\nx\n")

    def test_B134_a_hangup_that_is_ignored_ends_nobody(self):
        run = Wrapped(["nohup", harness.HCOMM, "run", "-n", "2", "--", "sh", "-c", "echo up; sleep 1; echo end"],
                      stderr=subprocess.DEVNULL)
        for _ in range(2):
            self.assertEqual(run.process.stdout.readline(), b"up\n")
        run.process.send_signal(signal.SIGHUP)
        out, _ = run.process.communicate(timeout=60)
        self.assertEqual((run.process.returncode, out), (0, b"end\nend\n"))
        self.assert_nobody_left(run)

    def test_B133_a_rank_that_fails_while_another_is_in_a_collective_ends_the_job(self):
        script = 'if [ "$HCOMM_RANK" = 1 ]; then {}; fi; exec "$0" "$@"'
        for how, code in (("exit 3", 3), ("kill -SEGV $$", 139)):
            with self.subTest(how=how):
                run = self.run_job(3, "sum", 8, 1, 0, before=("sh", "-c", script.format(how)))
                self.assertEqual(run.code, code, run.err)
                self.assertIn("rank 1 (pid ", run.err.decode())

    def test_B133_the_exit_code_is_that_of_the_rank_that_failed_first(self):
        for _ in range(3):
            run = self.run_job(4, "fail", 77)
            self.assertEqual(run.code, 77, run.err)
            self.assertRegex(run.err.decode(), r"rank 1 \(pid \d+\) exited with code 77")


if __name__ == "__main__":
    cases_harness.main()
