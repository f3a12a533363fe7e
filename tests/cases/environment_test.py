"""Jobs where the machine gives less than usual: little shared memory, few descriptors, refused system calls, namespaces."""
import os
import shlex
import signal

import cases_harness
import harness
from cases_harness import CasesTest, Wrapped, job_command


def quoted(command):
    return " ".join(map(shlex.quote, command))


class SharedMemory(CasesTest):
    def in_small_shm(self, mount_options, command):
        script = (f"mount -t tmpfs -o {mount_options} tmpfs /dev/shm && {{ {quoted(command)}; code=$?; "
                  "[ -z \"$(ls -A /dev/shm)\" ] || { echo left behind >&2; exit 99; }; exit $code; }")
        return ["unshare", "-m", "sh", "-c", script]

    def test_B046_a_tiny_dev_shm_does_not_matter(self):
        self.skip_unless("unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=1m tmpfs /dev/shm")
        for ranks, size in ((2, 32 << 20), (8, 4 << 20)):
            with self.subTest(ranks=ranks):
                run = self.run_command(self.in_small_shm("size=1m", job_command(ranks, "sum", size, 2, 0)))
                self.assert_right(run, ranks)

    def test_B065_neither_do_few_inodes_nor_the_limits_of_system_v(self):
        self.skip_unless("unshare", "-i", "-m", "sh", "-c", "mount -t tmpfs -o nr_inodes=16 tmpfs /dev/shm")
        inner = self.in_small_shm("size=1m,nr_inodes=16", job_command(8, "sum", 1 << 20, 2, 0))[2:]
        script = "echo 4 > /proc/sys/kernel/shmmni; echo 1 > /proc/sys/kernel/shmall; exec " + quoted(inner)
        self.assert_right(self.run_command(["unshare", "-i", "-m", "sh", "-c", script]), 8)

    def names(self):
        shared = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
        return shared, {name for name in os.listdir("/tmp") if "hcomm" in name}

    def test_B047_killed_jobs_leave_nothing_and_trouble_no_later_one(self):
        before = self.names()
        for turn in range(20):
            run = Wrapped(job_command(3, "loop", 50))
            pids = [int(run.process.stdout.readline().split()[3]) for _ in range(3)]
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            run.finish()
            self.assertEqual(run.code, 128 + signal.SIGKILL, f"turn {turn}: {run.err}")
            self.assert_nobody_left(run)
        self.assertTrue(harness.eventually(lambda: self.names()[0] <= before[0] and self.names()[1] <= before[1]), self.names())
        self.assert_right(self.run_job(3, "sum", 1 << 20, 3, 0), 3)


class Namespaces(CasesTest):
    def test_B050_ranks_in_pid_namespaces_of_their_own(self):
        self.skip_unless("unshare", "--pid", "--fork", "true")
        for size in (1 << 10, 1 << 20, 16 << 20):
            with self.subTest(size=size):
                self.assert_right(self.run_job(2, "sum", size, 3, 0, before=("unshare", "--pid", "--fork")), 2)

    def test_B050_one_rank_in_a_namespace_and_one_outside_wait_for_each_other(self):
        self.skip_unless("unshare", "--pid", "--fork", "true")
        script = 'if [ "$HCOMM_RANK" = 1 ]; then exec unshare --pid --fork "$0" "$@"; fi; exec "$0" "$@"'
        # Longer than the rounds in which processes that are gone are looked for.
        self.assert_right(self.run_job(2, "late", 2500, before=("sh", "-c", script)), 2)


    def test_B049_ranks_with_a_dev_shm_an_ipc_and_a_host_name_of_their_own(self):
        self.skip_unless("unshare", "-u", "-i", "-m", "true")
        script = 'mount -t tmpfs tmpfs /dev/shm; hostname "node.$HCOMM_RANK"; exec "$0" "$@"'
        self.assert_right(self.run_job(2, "sum", 1 << 20, 3, 0, before=("unshare", "-u", "-i", "-m", "sh", "-c", script)), 2)

    def test_B049_a_rank_in_another_network_namespace_is_told_so(self):
        self.skip_unless("unshare", "-n", "true")
        script = 'if [ "$HCOMM_RANK" = 1 ]; then exec unshare -n "$0" "$@"; fi; exec "$0" "$@"'
        run = self.run_job(2, "sum", 8, 1, 0, before=("sh", "-c", script), environment={"HCOMM_CONNECT_TIMEOUT": "20s"})
        self.assertEqual(run.code, 3)
        self.assertIn("network namespace", run.err.decode())

    def test_B061_ranks_in_user_and_pid_namespaces_of_their_own(self):
        self.skip_unless("unshare", "-U", "-r", "--pid", "--fork", "true")
        for wrapper in (("unshare", "-U", "-r", "--pid", "--fork"), ("unshare", "-U", "-r")):
            with self.subTest(wrapper=wrapper):
                self.assert_right(self.run_job(2, "sum", 16 << 20, 3, 0, before=wrapper), 2)


class Many(CasesTest):
    def test_B059_twenty_jobs_at_once_never_mix(self):
        runs = [Wrapped(job_command(2, "sum", 4096, 20, tag)) for tag in range(1, 21)]
        for run in runs:
            run.finish(timeout=120)
            self.assert_nobody_left(run)
        for run in runs:
            self.assert_right(run, 2)

    def test_B041_64_ranks_with_128_descriptors(self):
        script = f"ulimit -n 128; exec {quoted(job_command(64, 'sum', 8, 3, 0))}"
        run = self.run_command(["sh", "-c", script], timeout=120)
        self.assert_right_or_refused(run, 64, "Too many open files", "208 are needed for 64 ranks")

    def test_B041_64_ranks(self):
        self.assert_right(self.run_job(64, "sum", 8, 3, 0, timeout=120), 64)

    def test_B097_eight_ranks_on_one_core(self):
        core = str(min(os.sched_getaffinity(0)))
        self.assert_right(self.run_job(8, "sum", 8, 1000, 0, wrapper=("taskset", "-c", core), timeout=120), 8)


class RefusedCalls(CasesTest):
    CALLS = ("memfd_create", "pidfd_open", "process_vm_readv", "futex_waitv", "io_uring_setup", "mbind", "set_mempolicy",
             "sched_setaffinity", "sched_getaffinity", "set_robust_list", "madvise", "getrandom")
    NEEDED = {"memfd_create": "memory file", "set_robust_list": "robust", "madvise": "shared memory",
              "getrandom": "getrandom failed"}

    def check(self, run, call):
        if run.code == 77:
            self.skipTest("this kernel does not filter system calls")
        if call in self.NEEDED:
            self.assert_right_or_refused(run, 2, self.NEEDED[call])
        else:
            self.assert_right(run, 2)

    def test_B062_a_call_that_a_sandbox_refuses_to_the_whole_job(self):
        for call in self.CALLS:
            for error in ("EPERM", "ENOSYS"):
                with self.subTest(call=call, error=error):
                    run = self.run_job(2, "sum", 1 << 20, 3, 0, wrapper=(cases_harness.DENY, call, error))
                    self.check(run, call)

    def test_B062_a_call_that_a_sandbox_refuses_to_one_rank(self):
        script = 'if [ "$HCOMM_RANK" = 1 ]; then exec ' + cases_harness.DENY + ' {} EPERM "$0" "$@"; fi; exec "$0" "$@"'
        for call in self.CALLS:
            with self.subTest(call=call):
                self.check(self.run_job(2, "sum", 1 << 20, 3, 0, before=("sh", "-c", script.format(call))), call)


class Limits(CasesTest):
    def test_B064_small_limits_are_enough_or_are_named(self):
        for limit, words in (("-l 64", ()), ("-l 0", ()), ("-n 64", ("files",)), ("-n 32", ("files",)), ("-n 20", ("files",)),
                             ("-v 2097152", ("ulimit -v",)), ("-s 256", ()), ("-f 1000", ("ulimit -f",))):
            with self.subTest(limit=limit):
                run = self.run_command(["sh", "-c", f"ulimit {limit}; exec {quoted(job_command(8, 'sum', 1 << 20, 3, 0))}"])
                self.assert_right_or_refused(run, 8, *words)

    def test_B064_ranks_alone_with_small_limits(self):
        for limit in ("-n 12", "-n 8", "-v 500000", "-s 64"):
            with self.subTest(limit=limit):
                run = self.run_job(4, "sum", 1 << 20, 3, 0, before=("sh", "-c", f'ulimit {limit}; exec "$0" "$@"'))
                self.assert_right_or_refused(run, 4)


if __name__ == "__main__":
    cases_harness.main()
