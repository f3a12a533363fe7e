"""mpirun of Open MPI and of MPICH."""
import os
import shlex

import launch_harness
from launch_harness import EveryLauncher, LaunchTest, RankZeroServes, needs


def open_mpi(ranks):
    as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return ["mpirun.openmpi", *as_root, "--oversubscribe", "-n", str(ranks)]


def mpich(ranks):
    return ["mpirun.mpich", "-n", str(ranks)]


@needs("mpirun.openmpi")
class OpenMpi(RankZeroServes, EveryLauncher, LaunchTest):
    launcher = "Open MPI"
    rank_variable = "OMPI_COMM_WORLD_RANK"

    @classmethod
    def command(cls):
        return open_mpi(launch_harness.RANKS)


@needs("mpirun.mpich")
class Mpich(RankZeroServes, EveryLauncher, LaunchTest):
    launcher = "MPICH"
    rank_variable = "PMI_RANK"

    @classmethod
    def command(cls):
        return mpich(launch_harness.RANKS)

    def test_ranks_below_a_shell_still_find_their_launcher(self):
        self.assert_greeted(self.launch("sh", "-c", f"sh -c '{shlex.quote(launch_harness.HELLO)}; true'"))


@needs("mpirun.openmpi", "mpirun.mpich")
class Nested(LaunchTest):
    def test_the_inner_launcher_counts(self):
        for outer, inner in ((open_mpi(1), mpich(4)), (mpich(1), open_mpi(4))):
            with self.subTest(inner=inner[0]):
                # Each MPI refuses what the other one left in the environment of its own launcher, so that goes first.
                clean = "unset PMI_FD $(env | sed -n 's/^\\(OMPI_MCA_[^=]*\\|PMIX_[^=]*\\)=.*/\\1/p')"
                command = " ".join(map(shlex.quote, [*inner, launch_harness.HELLO]))
                self.assert_greeted(self.launch("sh", "-c", f"{clean}; exec {command}", before=outer))

    def test_two_runs_at_once_do_not_meet(self):
        for command in (open_mpi(4), mpich(4)):
            with self.subTest(launcher=command[0]):
                runs = [launch_harness.Launched([*command, launch_harness.HELLO]) for _ in range(3)]
                for run in runs:
                    self.assert_greeted(run.finish())
                    self.assert_nobody_left(run)


if __name__ == "__main__":
    launch_harness.main()
