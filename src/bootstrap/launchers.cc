#include "bootstrap/launchers.h"

#include <array>

namespace hcomm {
namespace {

template <std::size_t N>
using Words = std::array<std::string_view, N>;

constexpr Words<3> kOwn = {"HCOMM_RANK", "HCOMM_SIZE", "HCOMM_JOB"};
constexpr Words<1> kOwnNeeds = {"HCOMM_JOB"};

constexpr Words<1> kByHandMarks = {"HCOMM_RENDEZVOUS+HCOMM_RANK"};

// RANK alone is everybody's word.
constexpr Words<3> kTorchMarks = {"WORLD_SIZE", "TORCHELASTIC_RUN_ID", "RANK+MASTER_ADDR"};
constexpr Words<2> kTorchNeeds = {"MASTER_ADDR", "MASTER_PORT"};
constexpr Words<4> kTorchRun = {"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"};

constexpr Words<2> kOpenMpiMarks = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"};
constexpr Words<3> kOpenMpiRun = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri"};
constexpr Words<8> kOpenMpiProcesses = {"mpirun", "mpiexec", "mpirun.openmpi", "mpiexec.openmpi",
                                        "orterun", "orted", "prterun", "prted"};

constexpr Words<2> kPmiMarks = {"PMI_RANK", "PMI_SIZE"};
constexpr Words<1> kPmiProcesses = {"hydra_pmi_proxy"};

// A program that a batch script starts has SLURM_PROCID, too, though it is no task of a step.
constexpr Words<1> kSlurmMarks = {"SLURM_PROCID+SLURM_STEP_NODELIST"};
constexpr Words<3> kSlurmNeeds = {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_STEP_NUM_NODES"};
constexpr Words<2> kSlurmRun = {"SLURM_JOB_ID", "SLURM_STEP_ID"};
constexpr Words<1> kSlurmProcesses = {"slurmstepd"};

constexpr Words<1> kPmixMarks = {"PMIX_RANK"};
constexpr Words<1> kPmixRun = {"PMIX_NAMESPACE"};

constexpr Words<1> kTableMarks = {"RANK_TABLE_FILE"};

constexpr std::array kLaunchers = {
    Launcher{.name = "hcomm run",
             .how = "hcomm run -n 4 -- PROGRAM",
             .marks = kOwn,
             .rank = "HCOMM_RANK",
             .size = "HCOMM_SIZE",
             .needs = kOwnNeeds,
             .first_host = FirstHost::here,
             .why = "what is said to hcomm itself counts first"},
    Launcher{.name = "by hand",
             .how = "HCOMM_RANK=0 HCOMM_SIZE=4 HCOMM_RENDEZVOUS=HOST:PORT PROGRAM, for each rank",
             .marks = kByHandMarks,
             .rank = "HCOMM_RANK",
             .size = "HCOMM_SIZE",
             .why = "what is said to hcomm itself counts first"},
    Launcher{.name = "torchrun",
             .how = "torchrun --nproc-per-node=4 PROGRAM, or RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT by other means",
             .marks = kTorchMarks,
             .rank = "RANK",
             .size = "WORLD_SIZE",
             .local_rank = "LOCAL_RANK",
             .local_size = "LOCAL_WORLD_SIZE",
             .needs = kTorchNeeds,
             .run = kTorchRun,
             .first_host = FirstHost::variable,
             .host_variable = "MASTER_ADDR",
             .why = "torchrun, and scripts that set its variables, are themselves started by other launchers"},
    Launcher{.name = "Open MPI",
             .how = "mpirun -n 4 PROGRAM",
             .marks = kOpenMpiMarks,
             .rank = "OMPI_COMM_WORLD_RANK",
             .size = "OMPI_COMM_WORLD_SIZE",
             .local_rank = "OMPI_COMM_WORLD_LOCAL_RANK",
             .local_size = "OMPI_COMM_WORLD_LOCAL_SIZE",
             .run = kOpenMpiRun,
             .processes = kOpenMpiProcesses,
             .why = "mpirun runs inside tasks of Slurm more often than the other way round"},
    Launcher{.name = "MPICH",
             .how = "mpiexec -n 4 PROGRAM (Hydra, as in MPICH, Intel MPI and MVAPICH)",
             .marks = kPmiMarks,
             .rank = "PMI_RANK",
             .size = "PMI_SIZE",
             .local_rank = "MPI_LOCALRANKID",
             .local_size = "MPI_LOCALNRANKS",
             .processes = kPmiProcesses,
             .why = "mpiexec runs inside tasks of Slurm more often than the other way round"},
    Launcher{.name = "Slurm",
             .how = "srun -n 4 PROGRAM",
             .marks = kSlurmMarks,
             .rank = "SLURM_PROCID",
             .size = "SLURM_STEP_NUM_TASKS",  // SLURM_NTASKS may be that of the whole allocation
             .local_rank = "SLURM_LOCALID",
             .hosts = "SLURM_STEP_NUM_NODES",
             .step = "SLURM_STEP_ID",
             .needs = kSlurmNeeds,
             .run = kSlurmRun,
             .first_host = FirstHost::node_list,
             .host_variable = "SLURM_STEP_NODELIST",
             .processes = kSlurmProcesses,
             .why = "srun says more than PMIx or a rank table"},
    Launcher{.name = "PMIx",
             .how = "a launcher that tells the number of ranks, too",
             .marks = kPmixMarks,
             .rank = "PMIX_RANK",
             .run = kPmixRun,
             .why = "it started this process"},
    Launcher{.name = "rank table",
             .how = "RANK_TABLE_FILE, RANK_ID and RANK_SIZE, as for HCCL",
             .marks = kTableMarks,
             .rank = "RANK_ID",
             .first_host = FirstHost::rank_table,
             .why = "nothing else is there"},
};

}  // namespace

std::span<const Launcher> launchers() { return kLaunchers; }

}  // namespace hcomm
