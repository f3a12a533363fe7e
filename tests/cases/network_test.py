"""Jobs of several hosts, which are network namespaces: what lies between them, how it breaks, and who is let in."""
import json
import os
import signal
import sys
import time

import cases_harness
import harness
from network_harness import PORT, NetworkTest, cable

EVERYWHERE = ("adaptive", "recursive_doubling", "halving_doubling", "tree", "ring")  # all that need no window


class Layouts(NetworkTest):
    def three_hosts(self):
        """10.0.0.1, 2 and 3 at a switch."""
        switch = self.host()
        switch.ip("link add switch type bridge", "link set switch up")
        hosts = [self.host() for _ in range(3)]
        for number, host in enumerate(hosts, 1):
            cable(host, switch, names=("eth0", f"port{number}"))
            host.ip(f"address add 10.0.0.{number}/24 dev eth0")
            switch.ip(f"link set port{number} master switch")
        return hosts

    def test_B038_every_algorithm_over_three_and_one_and_over_one_and_one_and_two(self):
        a, b, c = self.three_hosts()
        for name, places in (("3+1", (a, a, a, b)), ("1+1+2", (a, b, c, c)), ("interleaved", (a, b, a, b))):
            jobs = [(algo, self.start(places, "sum", 40000, 3, index, at=f"10.0.0.1:{PORT + index}",
                                      environment={"HCOMM_ALGO": algo})) for index, algo in enumerate(EVERYWHERE)]
            for algo, job in jobs:
                with self.subTest(layout=name, algo=algo):
                    self.assert_all_right(job)

    def test_B038_a_setting_of_one_rank_alone_is_named_on_both_hosts(self):
        a, b = self.pair()
        job = self.start((a, a, a, b), "sum", 8, 1, 0, of_rank={3: {"HCOMM_ALGO": "ring"}})
        self.assert_all_fail(job, "HCOMM_ALGO")

    def test_two_hosts_of_two_ranks_in_every_collective_of_perf(self):
        a, b = self.pair()
        words = ("all", "-b", "8", "-e", "64K", "-f", "8192", "--iters", "1", "--warmup", "1", "--repetitions", "1", "--csv")
        job = self.start((a, a, b, b), *words, program=[harness.HCOMM, "perf"])
        for run in job.finish():
            self.assertEqual(run.code, 0, run.err.decode())
        lines = job.ranks[0].out.decode().splitlines()
        wrong = lines[0].split(",").index("wrong")
        self.assertGreater(len(lines), 10)
        self.assertEqual({line.split(",")[wrong] for line in lines[1:]}, {"0"})


class Names(NetworkTest):
    def test_B049_host_names_decide_nothing(self):
        """Ranks in containers of their own, two on each host, under names that are equal, or all different."""
        a, b = self.pair()
        container = ("unshare", "-u", "-i", "-m", "--pid", "--fork")
        self.skip_unless(*container, "true")
        path = os.path.join(self.folder, "perf.json")
        for name in ("node", "node.$HCOMM_RANK"):
            with self.subTest(name=name):
                script = f'mount -t tmpfs tmpfs /dev/shm; hostname "{name}"; exec "$@"'
                words = ("perf", "allreduce", "-b", "64K", "-e", "64K", "--iters", "1", "--json", path)
                program = [*container, "sh", "-c", script, "sh", harness.HCOMM, *words]
                for run in self.start((a, a, b, b), program=program).finish():
                    self.assertEqual(run.code, 0, run.err.decode())
                with open(path) as file:
                    self.assert_only_hosts_share_memory(json.load(file))

    def assert_only_hosts_share_memory(self, said):
        self.assertEqual([row["wrong"] for row in said["rows"]], [0] * len(said["rows"]))
        for pair in said["traffic"]:
            unused = "over_network" if pair["from"] // 2 == pair["to"] // 2 else "in_memory"
            self.assertEqual(pair[unused], 0, pair)
        self.assertGreater(sum(pair["in_memory"] for pair in said["traffic"]), 0)
        self.assertGreater(sum(pair["over_network"] for pair in said["traffic"]), 0)


class Interfaces(NetworkTest):
    def bridges(self, host):
        host.ip("link add docker0 type bridge", "address add 172.17.0.1/16 dev docker0", "link set docker0 up",
                "link add virbr0 type bridge", "address add 192.168.122.1/24 dev virbr0", "link set virbr0 up")

    def test_B052_bridges_with_equal_addresses_on_both_hosts(self):
        # As veth7 the cable is no better than the bridges; so whichever was made first is tried first.
        for name, bridges_first in (("eth0", True), ("eth0", False), ("veth7", True), ("veth7", False)):
            with self.subTest(cable=name, bridges_first=bridges_first):
                hosts = self.host(), self.host()
                for when in (True, False):
                    if when == bridges_first:
                        for host in hosts:
                            self.bridges(host)
                    else:
                        cable(*hosts, names=(name, name))
                for number, host in enumerate(hosts, 1):
                    host.ip(f"address add 10.0.0.{number}/24 dev {name}")
                job = self.start([hosts[0], hosts[1]] * 2, "sum", 8000, 3, 0, environment={"HCOMM_CONNECT_TIMEOUT": "10s"})
                self.assert_all_right(job)

    def test_B052_the_only_address_is_on_lo(self):
        a, b = self.host(), self.host()
        cable(a, b)
        for host, own, other in ((a, 1, 2), (b, 2, 1)):
            host.ip(f"address add 10.9.0.{own}/32 dev lo", f"route add 10.9.0.{other}/32 dev eth0 src 10.9.0.{own}")
        job = self.start((a, b), "sum", 8000, 3, 0, at=f"10.9.0.1:{PORT}", environment={"HCOMM_SOCKET_IFNAME": "lo"})
        self.assert_all_right(job)

    def test_B056_hosts_with_IPv6_alone(self):
        a, b = self.host(), self.host()
        cable(a, b)
        for number, host in enumerate((a, b), 1):
            host.ip(f"address add fd00::{number}/64 dev eth0 nodad")
        self.assert_all_right(self.start((a, a, b, b), "sum", 8000, 3, 0, at=f"[fd00::1]:{PORT}"))

    def test_B056_a_host_with_both_families_and_one_with_IPv4_alone(self):
        a, b = self.pair()
        a.ip("address add fd00::1/64 dev eth0 nodad")
        b.sysctl(ipv6__conf__all__disable_ipv6=1)
        self.assert_all_right(self.start((a, a, b, b), "sum", 8000, 3, 0))
        self.assert_all_right(self.start((b, b, a, a), "sum", 8000, 3, 0, at=f"10.0.0.2:{PORT}"))

    def test_B056_a_host_with_lo_alone_and_one_without(self):
        a = self.host()
        self.assert_all_right(self.start((a, a), "sum", 8000, 3, 0, at=f"127.0.0.1:{PORT}"))
        for state in ("up", "down"):
            a.ip(f"link set lo {state}")
            with self.subTest(lo=state):
                self.assert_right(self.run_job(2, "sum", 8000, 3, 0, wrapper=a.inside), 2)
        job = self.start((a, a), "sum", 8, 1, 0, at=f"127.0.0.1:{PORT}", environment={"HCOMM_CONNECT_TIMEOUT": "1s"})
        self.assert_all_fail(job, r"no interface|127\.0\.0\.1")

    def test_links_that_no_rank_can_reach_are_named_by_the_first_call(self):
        """The ranks meet over the cable, and listen for each other behind interfaces that lead nowhere."""
        a, b = self.pair()
        for number, host in enumerate((a, b), 1):
            host.ip("link add dead0 type bridge", "link set dead0 up", f"address add 10.{number}.0.1/24 dev dead0")
        job = self.start((a, b), "sum", 8000, 3, 0, environment={"HCOMM_SOCKET_IFNAME": "dead", "HCOMM_CONNECT_TIMEOUT": "3s"})
        self.assert_all_fail(job, r"no connection to rank [01]: 10\.[12]\.0\.1:\d+: .*HCOMM_CONNECT_TIMEOUT")

    def test_B058_few_ports_on_a_host_and_many_communicators(self):
        a, b = self.pair()
        a.sysctl(ipv4__ip_local_port_range="40000 40100")
        self.assert_all_right(self.start((a, a, b), "cycles", 80))


class Breaks(NetworkTest):
    def narrow(self, probing):
        """a (MTU 9000), a router that can pass 1400 bytes on to b and says so to nobody, b (MTU 9000)."""
        a, router, b = self.host(), self.host(), self.host()
        cable(a, router, names=("eth0", "left"), mtus=(9000, 9000))
        cable(b, router, names=("eth0", "right"), mtus=(9000, 1400))
        a.ip("address add 10.0.0.1/24 dev eth0", "route add default via 10.0.0.254")
        b.ip("address add 10.0.1.1/24 dev eth0", "route add default via 10.0.1.254")
        router.ip("address add 10.0.0.254/24 dev left", "address add 10.0.1.254/24 dev right",
                  "rule add iif lo blackhole pref 1")  # what the router itself would say
        router.sysctl(ipv4__ip_forward=1)
        for host in (a, b):
            host.sysctl(ipv4__tcp_mtu_probing=probing)
        return a, b

    def test_B070_large_packets_that_vanish_end_in_an_error_that_names_the_peer(self):
        a, b = self.narrow(0)
        jobs = [(size, self.start((a, b), "sum", size, 2, 0, at=f"10.0.0.1:{PORT + index}",
                                  environment={"HCOMM_PEER_TIMEOUT": "2s", "HCOMM_TIMEOUT": "4s"}))
                for index, size in enumerate((8, 512, 20_000, 1 << 20, 8 << 20))]
        for size, job in jobs:
            with self.subTest(size=size):
                if size <= 512:
                    self.assert_all_right(job)
                else:
                    self.assert_all_fail(job, r"rank [01] \(pid \d+")

    def test_B070_where_the_kernel_begins_with_small_packets_every_message_arrives(self):
        a, b = self.narrow(2)
        for index, job in enumerate([self.start((a, b), "sum", size, 2, 0, at=f"10.0.0.1:{PORT + index}")
                                     for index, size in enumerate((8, 20_000, 8 << 20))]):
            with self.subTest(job=index):
                self.assert_all_right(job)

    def test_B070_small_packets_on_both_sides(self):
        a, b = self.pair()
        for host in (a, b):
            host.ip("link set eth0 mtu 576")
        self.assert_all_right(self.start((a, a, b, b), "sum", 8 << 20, 1, 0))

    def test_B079_a_cable_that_is_out_for_three_seconds_costs_nothing_but_time(self):
        a, b = self.pair()
        job = self.start((a, a, b, b), "loop", 5)
        job.pids()
        time.sleep(0.5)
        b.ip("link set eth0 down")
        time.sleep(3)
        b.ip("link set eth0 up")
        self.assert_all_right(job)

    def break_for_ever(self, a, b, how):
        job = self.start((a, a, b, b), "loop", 50, environment={"HCOMM_PEER_TIMEOUT": "2s", "HCOMM_TIMEOUT": "4s"})
        pids = job.pids()
        time.sleep(0.5)
        how()
        return job, pids

    def test_B079_a_cable_that_is_out_for_ever_names_the_peer(self):
        a, b = self.pair()
        job, pids = self.break_for_ever(a, b, lambda: b.ip("link set eth0 down"))
        for rank, run in enumerate(job.finish(timeout=30)):
            far = (2, 3) if rank < 2 else (0, 1)
            self.assertEqual(run.code, 3, run.err)
            self.assertRegex(run.err.decode(), "|".join(rf"rank {peer} \(pid {pids[peer]}" for peer in far))

    def test_B079_one_direction_alone(self):
        a, b = self.pair()
        nobody = "neighbour replace 10.0.0.2 lladdr 02:00:00:00:00:99 nud permanent dev eth0"
        job, _ = self.break_for_ever(a, b, lambda: a.ip(nobody))
        self.assert_all_fail(job, r"rank \d \(pid \d+")

    def test_B079_an_address_that_swallows_connections_is_named(self):
        a, b = self.pair()
        b.ip("neighbour replace 10.0.0.1 lladdr 02:00:00:00:00:99 nud permanent dev eth0")
        job = self.start((a, b), "sum", 8, 1, 0, environment={"HCOMM_CONNECT_TIMEOUT": "2s"})
        self.assert_all_fail(job, rf"10\.0\.0\.1:{PORT}", among=(1,))
        self.assert_all_fail(job, r"missing: 1\b", among=(0,))

    def test_a_death_on_one_host_is_seen_on_the_other(self):
        a, b = self.pair()
        job = self.start((a, a, b, b), "loop", 50)
        pids = job.pids()
        time.sleep(0.5)
        start = time.monotonic()
        os.kill(pids[3], signal.SIGKILL)
        self.assertEqual(job.ranks[3].finish().code, -signal.SIGKILL)
        for rank in (0, 1, 2):
            run = job.ranks[rank].finish(timeout=20)
            self.assertEqual(run.code, 3, run.err)
            self.assertRegex(run.err.decode(), rf"rank 3 \(pid {pids[3]}\) died")
        print(f"a death was seen on the other host after at most {1000 * (time.monotonic() - start):.0f} ms", file=sys.stderr)


class Secrets(NetworkTest):
    def test_a_rank_without_the_secret_or_with_another_one_is_refused_and_named_on_both_sides(self):
        a, b = self.pair()
        strangers = {"none": {"HCOMM_SECRET_FILE": None, "HCOMM_TRUSTED_NET": "1"},
                     "another": self.make_secret("other", b"this is another secret")}
        jobs = [(what, port, self.start((a, b), "sum", 8, 1, 0, at=f"10.0.0.1:{port}", of_rank={1: stranger},
                                        environment={"HCOMM_CONNECT_TIMEOUT": "3s"}))
                for port, (what, stranger) in enumerate(strangers.items(), PORT)]
        for what, port, job in jobs:
            with self.subTest(secret=what):
                self.assert_all_fail(job, "the secrets differ")
                server, stranger = (run.err.decode() for run in job.ranks)
                self.assertIn(f"10.0.0.1:{port}: the secrets differ", stranger)
                turned_away = rf"turned away .* at 10\.0\.0\.1:{port}; the last from 10\.0\.0\.2:\d+: the secrets differ"
                self.assertRegex(server, turned_away)
                self.assertRegex(server, r"missing: 1\b")

    def test_a_rank_that_was_told_neither_does_not_begin(self):
        a, b = self.pair()
        job = self.start((a, b), "sum", 8, 1, 0, environment={"HCOMM_CONNECT_TIMEOUT": "1s"},
                         of_rank={1: {"HCOMM_SECRET_FILE": None}})
        self.assert_all_fail(job, "HCOMM_SECRET_FILE", "HCOMM_TRUSTED_NET", among=(1,))
        self.assert_all_fail(job, r"missing: 1\b", among=(0,))


if __name__ == "__main__":
    cases_harness.main()
