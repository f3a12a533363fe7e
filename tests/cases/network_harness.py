"""Hosts for tests: network namespaces without names. Each is held by a keeper process that ends when its standard input
does, at the latest with the test; its interfaces go with it. And jobs whose ranks are started by hand on such hosts."""
import os
import subprocess
import tempfile

import cases_harness
from cases_harness import CasesTest, Wrapped

PORT = 29500
RIGHT = b"right\n"


class Host:
    def __init__(self):
        self.keeper = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo up; exec cat"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if self.keeper.stdout.readline() != b"up\n":
            raise OSError(self.keeper.communicate()[1].decode().strip() or "the keeper did not start")
        self.inside = ("nsenter", "-t", str(self.keeper.pid), "--net")

    def close(self):
        self.keeper.communicate()

    def run(self, *command, text=""):
        done = subprocess.run([*self.inside, *command], input=text, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(command)} {text!r}: {done.stderr}")
        return done.stdout

    def ip(self, *lines):
        """Lines of `ip`, without the word."""
        self.run("ip", "-batch", "-", text="".join(line + "\n" for line in lines))

    def sysctl(self, **values):
        script = "".join(f"echo '{value}' > /proc/sys/net/{name.replace('__', '/')}\n" for name, value in values.items())
        self.run("sh", "-e", text=script)


def cable(one, other, names=("eth0", "eth0"), mtus=(1500, 1500)):
    one.ip(f"link add {names[0]} mtu {mtus[0]} type veth peer name {names[1]} mtu {mtus[1]} netns {other.keeper.pid}",
           f"link set {names[0]} up")
    other.ip(f"link set {names[1]} up")


class Job:
    """Ranks started by hand, rank r on places[r]; case_rank with these words unless it is another program."""

    def __init__(self, places, words, at, environment=None, of_rank=None, program=None):
        self.ranks = []
        for rank, host in enumerate(places):
            said = {"HCOMM_RANK": str(rank), "HCOMM_SIZE": str(len(places)), "HCOMM_RENDEZVOUS": at,
                    "HCOMM_CONNECT_TIMEOUT": "20s", **(environment or {}), **(of_rank or {}).get(rank, {})}
            said = {name: value for name, value in said.items() if value is not None}
            self.ranks.append(Wrapped([*host.inside, *(program or [cases_harness.RANK]), *map(str, words)], said))

    def pids(self):
        """Of ranks that loop."""
        return [int(run.process.stdout.readline().split()[3]) for run in self.ranks]

    def finish(self, timeout=60):
        for run in self.ranks:
            run.finish(timeout=timeout)
        return self.ranks


class NetworkTest(CasesTest):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to make network namespaces")
        self.skip_unless("unshare", "--net", "sh", "-c", "ip link add t0 type veth peer name t1 && ip link add t2 type bridge")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.secret = self.make_secret("secret", b"the same on all hosts")

    def make_secret(self, name, what):
        path = os.path.join(self.folder, name)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(what)
        return {"HCOMM_SECRET_FILE": path}

    def host(self):
        made = Host()
        self.addCleanup(made.close)
        made.ip("link set lo up")
        return made

    def pair(self):
        """Two hosts, 10.0.0.1 and 10.0.0.2, and a cable."""
        one, other = self.host(), self.host()
        cable(one, other)
        one.ip("address add 10.0.0.1/24 dev eth0")
        other.ip("address add 10.0.0.2/24 dev eth0")
        return one, other

    def start(self, places, *words, at=f"10.0.0.1:{PORT}", environment=None, **options):
        job = Job(places, words, at, {**self.secret, **(environment or {})}, **options)
        for run in job.ranks:
            self.addCleanup(run.clean_up)
        return job

    def assert_all_right(self, job):
        for rank, run in enumerate(job.finish()):
            self.assertEqual((run.code, run.out[-len(RIGHT):]), (0, RIGHT), f"rank {rank}: {run.err.decode()}")

    def assert_all_fail(self, job, *patterns, among=None):
        """Each rank ends with the library's error, whose text has all these."""
        for rank, run in enumerate(job.finish()):
            if among is not None and rank not in among:
                continue
            self.assertEqual(run.code, 3, f"rank {rank}: {run.err.decode()}")
            for pattern in patterns:
                self.assertRegex(run.err.decode(), pattern)
