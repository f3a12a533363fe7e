"""srun, with a Slurm of the test's own: munged, slurmctld and slurmd on loopback, in a folder that goes with the test."""
import getpass
import os
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import harness
import launch_harness
from launch_harness import EveryLauncher, LaunchTest, RankZeroServes, needs

CONFIGURATION = """
ClusterName=hcomm
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
MailProg=/bin/true
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
LaunchParameters=use_interactive_step
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Cluster:
    """One node. Its daemons are children of this process and end with it."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="hcomm-slurm-")
        self.daemons = []
        self.environment = {"SLURM_CONF": f"{self.folder}/slurm.conf", "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
        os.chmod(self.folder, 0o755)
        for name in ("state", "spool"):
            os.mkdir(f"{self.folder}/{name}", 0o755)
        with open(os.open(f"{self.folder}/munge.key", os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(os.urandom(1024))
        with open(f"{self.folder}/slurm.conf", "w") as file:
            file.write(CONFIGURATION.format(host=socket.gethostname().split(".")[0], user=getpass.getuser(), folder=self.folder,
                                            controller_port=free_port(), node_port=free_port()))
        self.start("munged", "--foreground", "--force", f"--key-file={self.folder}/munge.key",
                   f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munged.pid",
                   f"--seed-file={self.folder}/munged.seed", f"--log-file={self.folder}/munged.log")
        self.wait_for(lambda: os.path.exists(f"{self.folder}/munge.socket"), "munged")
        self.start("slurmctld", "-D")
        self.start("slurmd", "-D")
        self.wait_for(lambda: self.ask("sinfo", "--noheader", "--format=%T") == "idle", "the node")

    def start(self, name, *words):
        log = open(f"{self.folder}/{name}.out", "wb")
        self.daemons.append(subprocess.Popen([name, *words], env={**os.environ, **self.environment}, stdin=subprocess.DEVNULL,
                                             stdout=log, stderr=subprocess.STDOUT))
        log.close()

    def ask(self, *words):
        done = subprocess.run(words, env={**os.environ, **self.environment}, capture_output=True, text=True, timeout=60,
                              check=False)
        return done.stdout.strip()

    def wait_for(self, condition, what):
        end = time.monotonic() + 60
        while not condition():
            if time.monotonic() > end or any(daemon.poll() is not None for daemon in self.daemons):
                texts = "".join(f"{name}: {open(f'{self.folder}/{name}', errors='replace').read()[-2000:]}\n"
                                for name in sorted(os.listdir(self.folder)) if name.endswith((".out", ".log")))
                self.stop()
                raise AssertionError(f"{what} does not come up\n{texts}")
            time.sleep(0.1)

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


@needs("munged", "slurmctld", "slurmd", "srun", "sbatch")
class Slurm(RankZeroServes, EveryLauncher, LaunchTest):
    launcher = "Slurm"
    rank_variable = "SLURM_PROCID"

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.stop)
        cls.environment = cls.cluster.environment

    @classmethod
    def command(cls):
        return ["srun", "-n", "4"]

    def test_two_steps_of_one_allocation_do_not_meet(self):
        hello = shlex.quote(launch_harness.HELLO)
        script = f"srun -n 4 --exact {hello} & srun -n 4 --exact {hello}; wait"
        self.assert_greeted(self.launch("sh", "-c", script, before=["salloc", "-Q", "-n", "8"]), times=2)

    def test_a_batch_script_is_no_task_but_its_srun_starts_some(self):
        hcomm = shlex.quote(harness.HCOMM)
        with launch_harness.temporary_folder() as folder:
            with open(f"{folder}/job", "w") as file:
                file.write(f"#!/bin/sh\n{hcomm} env --launcher 2>&1; echo code $?\n"
                           f"{hcomm} perf allreduce -n 2 -b 8 -e 8; srun -n 3 {hcomm} perf allreduce -b 8 -e 8\n")
            run = self.launch("-n", "4", "-W", "-o", f"{folder}/out", f"{folder}/job", before=["sbatch"])
            with open(f"{folder}/out") as file:
                text = file.read()
        self.assertEqual(run.code, 0, run.err.decode() + text)
        self.assertIn("SLURM_PROCID is set, but SLURM_STEP_NODELIST is not", text)
        self.assertIn("code 1\n", text)
        self.assertIn(": 2 ranks on ", text)  # nobody started perf as a rank, so it started its own
        self.assertIn(": 3 ranks on ", text)

    @needs("mpirun.mpich")
    def test_mpirun_in_a_task_is_the_inner_launcher(self):
        seen = self.launch("mpirun.mpich", "-launcher", "fork", "-n", "2", harness.HCOMM, "env", "--launcher",
                           before=["srun", "-n", "1"])
        self.assertEqual(seen.code, 0, seen.err.decode())
        text = seen.out.decode()
        self.assertEqual(text.count("MPICH counts: hydra_pmi_proxy (pid "), 2, text)
        self.assertIn("Slurm says rank 0 of 1", text)


if __name__ == "__main__":
    launch_harness.main()
