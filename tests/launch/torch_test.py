"""Variables in torchrun's style, an HCCL rank table, and hcomm run itself."""
import json
import os
import shlex
import sys

import harness
import launch_harness
from launch_harness import EveryLauncher, LaunchTest, RankZeroServes

# Starts 4 processes with torchrun's variables, as a node with 4 workers has them; ends with the worst exit code.
TORCHRUN = """
import os, subprocess, sys
port = sys.argv[1]
workers = [subprocess.Popen(sys.argv[2:], env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "4", "LOCAL_RANK": str(rank),
                                               "LOCAL_WORLD_SIZE": "4", "GROUP_RANK": "0", "MASTER_ADDR": "somehost",
                                               "MASTER_PORT": port, "TORCHELASTIC_RUN_ID": "none"}) for rank in range(4)]
sys.exit(max(abs(worker.wait()) for worker in workers))
"""


class Torchrun(RankZeroServes, EveryLauncher, LaunchTest):
    launcher = "torchrun"
    rank_variable = "RANK"
    port = 29500

    @classmethod
    def command(cls):
        Torchrun.port += 1
        return [sys.executable, "-c", TORCHRUN, str(Torchrun.port)]

    def test_contradictions_are_named(self):
        for variables, words in (({"RANK": "4"}, ("RANK is 4", "WORLD_SIZE is 4")), ({"RANK": "x"}, ("RANK is 'x'",)),
                                 ({"LOCAL_RANK": "7"}, ("LOCAL_RANK is 7",)), ({"WORLD_SIZE": ""}, ("WORLD_SIZE",))):
            with self.subTest(variables=variables):
                whole = {"RANK": "1", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "4", "MASTER_ADDR": "h",
                         "MASTER_PORT": "1", "TORCHELASTIC_RUN_ID": "a", **variables}
                for command, code in (([launch_harness.HELLO], 1), ([harness.HCOMM, "perf", "allreduce"], 2),
                                      ([harness.HCOMM, "env", "--launcher"], 1)):
                    run = self.launch(environment=whole, before=command)
                    self.assertEqual(run.code, code)
                    for word in words:
                        self.assertIn(word, run.err.decode())

    def test_several_hosts_are_not_taken_for_one(self):
        run = self.launch(environment={"RANK": "1", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2",
                                       "MASTER_ADDR": "h", "MASTER_PORT": "1"}, before=[launch_harness.HELLO])
        self.assertEqual(run.code, 1)
        self.assertIn("several hosts", run.err.decode())


class RankTable(LaunchTest):
    def test_a_table_of_one_server(self):
        table = {"status": "completed", "version": "1.0", "server_count": "1", "server_list": [
            {"server_id": "10.0.0.1", "device": [{"device_id": str(rank), "rank_id": str(rank)} for rank in range(4)]}]}
        with launch_harness.temporary_folder() as folder:
            path = os.path.join(folder, "table.json")
            with open(path, "w") as file:
                json.dump(table, file)
            script = f'for r in 0 1 2 3; do RANK_ID=$r {shlex.quote(launch_harness.HELLO)} & done; wait'
            self.assert_greeted(self.launch("-c", script, before=["sh"], environment={"RANK_TABLE_FILE": path, "RANK_SIZE": "4"}))
            run = self.launch(before=[launch_harness.HELLO],
                              environment={"RANK_TABLE_FILE": path, "RANK_SIZE": "5", "RANK_ID": "0"})
            self.assertEqual(run.code, 1)
            self.assertIn("RANK_SIZE is '5', but the table has 4 ranks", run.err.decode())


class Own(EveryLauncher, LaunchTest):
    launcher = "hcomm run"
    rank_variable = "HCOMM_RANK"

    @classmethod
    def command(cls):
        return [harness.HCOMM, "run", "-n", "4", "--"]

    def test_the_launcher_is_named(self):
        run = self.launch(harness.HCOMM, "env", "--launcher", before=[harness.HCOMM, "run", "-n", "1", "--"])
        self.assertEqual(run.code, 0, run.err.decode())
        self.assertIn("hcomm run counts", run.out.decode())

    def test_a_rank_that_does_not_start_is_named(self):
        script = f'[ "$HCOMM_RANK" = 2 ] && sleep 4 && exit 0; exec {shlex.quote(launch_harness.HELLO)}'
        run = self.launch("sh", "-c", script, environment={"HCOMM_CONNECT_TIMEOUT": "2s"})
        self.assertEqual(run.code, 1)
        self.assertIn("3 of 4 ranks arrived within 2 s; missing: 2", run.err.decode())


class Nobody(LaunchTest):
    def test_no_launcher(self):
        run = self.launch(before=[harness.HCOMM, "env", "--launcher"])
        self.assertEqual(run.code, 1)
        self.assertIn("there is no job to join", run.err.decode())
        run = self.launch(before=[harness.HCOMM, "env", "--launcher", "--json"])
        self.assertEqual(run.code, 1)
        what = json.loads(run.out)
        self.assertEqual((what["launcher"], what["launchers"][0]["found"]), (None, False))
        self.assertIn("no job to join", what["error"])


if __name__ == "__main__":
    launch_harness.main()
