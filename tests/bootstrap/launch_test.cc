#include "bootstrap/launch.h"

#include <catch2/catch.hpp>
#include <map>

#include <unistd.h>

#include "bootstrap/facts.h"
#include "bootstrap/run_id.h"

namespace hcomm {
namespace {

using Catch::Matchers::Contains;
using Environment = std::map<std::string, std::string, std::less<>>;
using Ancestors = std::vector<Ancestor>;

Detection detect_in(const Environment& environment, Ancestors ancestors = {}, const std::string& file = "") {
  const auto variable = [&](std::string_view name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    return found == environment.end() || found->second.empty() ? std::nullopt : std::optional(found->second);
  };
  const auto read_file = [&](const std::string&) -> Result<std::string> { return file; };
  return detect({.variable = variable, .read_file = read_file, .ancestors = std::move(ancestors), .user = 1000});
}

Launch launch_in(const Environment& environment, Ancestors ancestors = {}, const std::string& file = "") {
  Detection detection = detect_in(environment, std::move(ancestors), file);
  INFO(detection.launch.status().trail());
  REQUIRE(detection.launch.ok());
  return detection.launch.value();
}

std::string refused(const Environment& environment, hcommResult_t code, Ancestors ancestors = {}, const std::string& file = "") {
  const Detection detection = detect_in(environment, std::move(ancestors), file);
  if (detection.launch.ok()) return "(accepted)";
  CHECK(detection.launch.status().code() == code);
  return std::string(detection.launch.status().trail());
}

Environment with(Environment environment, const Environment& more) {
  for (const auto& [name, value] : more) environment[name] = value;
  return environment;
}

// Each as rank 1 of 4 on one host.
Environment own() { return {{"HCOMM_RANK", "1"}, {"HCOMM_SIZE", "4"}, {"HCOMM_JOB", to_hex(make_job_id().value())}}; }
const Environment kTorch = {{"RANK", "1"},        {"WORLD_SIZE", "4"},      {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "4"},
                            {"MASTER_ADDR", "h"}, {"MASTER_PORT", "29500"}, {"TORCHELASTIC_RUN_ID", "a"}};
const Environment kOpenMpi = {{"OMPI_COMM_WORLD_RANK", "1"},       {"OMPI_COMM_WORLD_SIZE", "4"},
                              {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                              {"PMIX_NAMESPACE", "77"},            {"PMIX_RANK", "1"}};
const Environment kMpich = {{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "4"}};
const Environment kSlurm = {{"SLURM_PROCID", "1"},         {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_LOCALID", "1"},
                            {"SLURM_STEP_NUM_NODES", "1"}, {"SLURM_STEP_NODELIST", "n1"}, {"SLURM_JOB_ID", "9"},
                            {"SLURM_STEP_ID", "0"},        {"SLURM_NTASKS", "64"}};
const Environment kTable = {{"RANK_TABLE_FILE", "/t.json"}, {"RANK_ID", "1"}, {"RANK_SIZE", "4"}};
const std::string kTableFile = R"({"version": "1.0", "server_list": [{"server_id": "10.0.0.1", "device": [
  {"rank_id": "0"}, {"rank_id": "1"}, {"rank_id": "2"}, {"rank_id": "3"}]}]})";

const Ancestors kUnderMpirun = {{50, 5, "bash"}, {40, 4, "mpirun"}, {30, 3, "slurmstepd"}};
const Ancestors kUnderSrun = {{60, 6, "slurmstepd"}};
const Ancestors kUnderHydra = {{50, 5, "sh"}, {40, 4, "hydra_pmi_proxy"}, {30, 3, "mpiexec.hydra"}};

TEST_CASE("what hcomm run sets is understood") {
  const Environment environment = own();
  const Launch launch = launch_in(environment);
  CHECK(launch.rank == 1);
  CHECK(launch.ranks == 4);
  CHECK(to_hex(launch.job) == environment.at("HCOMM_JOB"));
  CHECK_FALSE(launch.serves);
}

TEST_CASE("each launcher is recognised, and names its run") {
  struct Case {
    std::string name;
    Environment environment;
    Ancestors ancestors;
    std::string rank;  // the variable
  };
  for (const Case& each : {Case{"torchrun", kTorch, {}, "RANK"}, Case{"Open MPI", kOpenMpi, kUnderMpirun, "OMPI_COMM_WORLD_RANK"},
                           Case{"MPICH", kMpich, kUnderHydra, "PMI_RANK"}, Case{"Slurm", kSlurm, kUnderSrun, "SLURM_PROCID"},
                           Case{"rank table", kTable, {}, "RANK_ID"}}) {
    INFO(each.name);
    const Launch launch = launch_in(each.environment, each.ancestors, kTableFile);
    CHECK(launch.launcher == each.name);
    CHECK(launch.rank == 1);
    CHECK(launch.ranks == 4);
    CHECK(launch.one_host);
    CHECK_FALSE(launch.serves);
    CHECK_FALSE(launch.named_by.empty());
    const Launch first = launch_in(with(each.environment, {{each.rank, "0"}}), each.ancestors, kTableFile);
    CHECK(first.serves);
    CHECK(first.job == launch.job);
    CHECK(first.rendezvous.empty());
  }
}

TEST_CASE("runs of one launcher do not meet") {
  const auto job = [](const Environment& environment, Ancestors ancestors = {}) {
    return launch_in(environment, std::move(ancestors)).job;
  };
  CHECK(job(kTorch) != job(with(kTorch, {{"MASTER_PORT", "29501"}})));
  CHECK(job(kTorch) != job(with(kTorch, {{"TORCHELASTIC_RESTART_COUNT", "1"}})));
  CHECK(job(kOpenMpi) != job(with(kOpenMpi, {{"PMIX_NAMESPACE", "78"}})));
  CHECK(job(kSlurm) != job(with(kSlurm, {{"SLURM_STEP_ID", "1"}})));
  CHECK(job(kMpich, kUnderHydra) != job(kMpich, {{40, 9, "hydra_pmi_proxy"}}));
  CHECK(job(kMpich, kUnderHydra) == job(kMpich, {{51, 6, "sh"}, {40, 4, "hydra_pmi_proxy"}}));
  CHECK(job(kMpich, {{12, 1, "other"}}) == job(kMpich, {{12, 1, "other"}, {1, 0, "init"}}));
}

TEST_CASE("nothing set is an error that says how to start, never one rank") {
  const std::string text = refused({}, hcommInvalidUsage);
  CHECK_THAT(text, Contains("HCOMM_RANK") && Contains("hcomm run -n") && Contains("Slurm"));
  CHECK(detect_in({}).chosen == nullptr);
}

TEST_CASE("a batch script and an interactive shell of Slurm are no tasks") {
  const Environment batch = {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "9"}};
  CHECK_THAT(refused(batch, hcommInvalidUsage), Contains("SLURM_PROCID is set, but SLURM_STEP_NODELIST is not"));
  CHECK(detect_in(batch).chosen == nullptr);
  const Environment shell = with(kSlurm, {{"SLURM_STEP_ID", "4294967290"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}});
  CHECK_THAT(refused(shell, hcommInvalidUsage), Contains("SLURM_STEP_ID is 4294967290, a shell or script and no task"));
  CHECK(detect_in(shell).chosen == nullptr);
}

TEST_CASE("RANK alone is nobody's") {
  CHECK(detect_in({{"RANK", "3"}}).chosen == nullptr);
  CHECK_THAT(refused({{"RANK", "3"}}, hcommInvalidUsage), Contains("RANK is set, but MASTER_ADDR is not"));
}

TEST_CASE("a variable that is missing or empty is named") {
  struct Case {
    Environment environment;
    std::vector<std::string> names;
  };
  for (const Case& each : {Case{own(), {"HCOMM_RANK", "HCOMM_SIZE", "HCOMM_JOB"}},
                           Case{kTorch, {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}},
                           Case{kOpenMpi, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}},
                           Case{kMpich, {"PMI_RANK", "PMI_SIZE"}},
                           Case{kSlurm, {"SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_STEP_NUM_NODES"}},
                           Case{kTable, {"RANK_ID"}}}) {
    for (const std::string& name : each.names) {
      for (const bool empty : {false, true}) {
        Environment environment = each.environment;
        if (empty) environment[name] = "";
        else environment.erase(name);
        INFO(name << (empty ? " empty" : " missing"));
        CHECK_THAT(refused(environment, hcommInvalidUsage), Contains("but " + name + " is not or is empty"));
      }
    }
  }
}

TEST_CASE("garbage is named with its value and what is legal") {
  struct Case {
    Environment environment;
    std::string name;
    std::string value;
  };
  for (const Case& wrong :
       {Case{own(), "HCOMM_SIZE", "two"}, Case{own(), "HCOMM_SIZE", "0"}, Case{own(), "HCOMM_SIZE", "-1"},
        Case{own(), "HCOMM_SIZE", "4097"}, Case{own(), "HCOMM_SIZE", "4 "}, Case{own(), "HCOMM_SIZE", "99999999999999"},
        Case{own(), "HCOMM_RANK", "-1"}, Case{own(), "HCOMM_RANK", "1x"}, Case{own(), "HCOMM_RANK", "4"},
        Case{own(), "HCOMM_JOB", "abc"}, Case{kTorch, "RANK", "x"}, Case{kTorch, "WORLD_SIZE", "1"},
        Case{kTorch, "LOCAL_RANK", "4"}, Case{kTorch, "LOCAL_WORLD_SIZE", "5"}, Case{kOpenMpi, "OMPI_COMM_WORLD_SIZE", "1.5"},
        Case{kOpenMpi, "OMPI_COMM_WORLD_LOCAL_SIZE", "0"}, Case{kMpich, "PMI_RANK", "0x1"}, Case{kMpich, "MPI_LOCALRANKID", "9"},
        Case{kSlurm, "SLURM_STEP_NUM_TASKS", ""}, Case{kSlurm, "SLURM_STEP_NUM_NODES", "5"}, Case{kSlurm, "SLURM_LOCALID", "?"},
        Case{kSlurm, "SLURM_STEP_NODELIST", "n[1"}, Case{kTable, "RANK_ID", "4"}, Case{kTable, "RANK_SIZE", "3"}}) {
    if (wrong.value.empty()) continue;
    INFO(wrong.name << "=" << wrong.value);
    const std::string text = refused(with(wrong.environment, {{wrong.name, wrong.value}}), hcommInvalidArgument, {}, kTableFile);
    CHECK_THAT(text, Contains(wrong.name));
    if (wrong.name != "HCOMM_JOB") CHECK_THAT(text, Contains(wrong.value));
  }
}

TEST_CASE("what is said to hcomm itself counts first") {
  const Environment all = with(with(own(), kSlurm), with(kTorch, {{"RANK", "3"}}));
  const Detection detection = detect_in(all);
  CHECK(detection.launch.value().launcher == "hcomm run");
  REQUIRE(detection.remarks.size() == 1);
  CHECK_THAT(detection.remarks[0], Contains("torchrun says rank 3 of 4") && Contains("does not count"));
}

TEST_CASE("the innermost launcher counts: the nearest of its processes among the ancestors") {
  const Environment step_of_one = with(kSlurm, {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_LOCALID", "0"}});
  const Detection in_step = detect_in(with(step_of_one, kOpenMpi), kUnderMpirun);
  CHECK(in_step.launch.value().launcher == "Open MPI");
  CHECK_THAT(in_step.why, Contains("mpirun (pid 40) is the nearest launcher"));
  REQUIRE(in_step.remarks.size() == 1);
  CHECK_THAT(in_step.remarks[0], Contains("Slurm says rank 0 of 1") && Contains("mpirun (pid 40)"));
  // srun inside mpirun: its tasks descend from slurmstepd, and only mpirun's variables are left of mpirun.
  const Environment stale = with(kOpenMpi, {{"OMPI_COMM_WORLD_RANK", "0"}});
  CHECK(launch_in(with(kSlurm, stale), kUnderSrun).launcher == "Slurm");
  CHECK(launch_in(with(kSlurm, kMpich), kUnderSrun).launcher == "Slurm");
  CHECK(launch_in(with(kSlurm, kMpich), kUnderHydra).launcher == "MPICH");
}

TEST_CASE("where processes do not tell, the order of the table does") {
  CHECK(launch_in(with(kSlurm, kOpenMpi)).launcher == "Open MPI");
  CHECK(launch_in(with(kSlurm, kTorch), kUnderSrun).launcher == "torchrun");
  CHECK(launch_in(with(kOpenMpi, kTorch), kUnderMpirun).launcher == "torchrun");
  CHECK(launch_in(with(kSlurm, kTable)).launcher == "Slurm");
  CHECK_THAT(detect_in(with(kSlurm, kTorch), kUnderSrun).why, Contains("are themselves started by other launchers"));
}

TEST_CASE("a set that is incomplete yields to a complete one unless it contradicts it") {
  CHECK(launch_in(with(kSlurm, {{"WORLD_SIZE", "4"}, {"MASTER_ADDR", "h"}}), kUnderSrun).launcher == "Slurm");
  const std::string text = refused(with(kSlurm, {{"WORLD_SIZE", "8"}, {"MASTER_ADDR", "h"}}), hcommInvalidArgument, kUnderSrun);
  CHECK_THAT(text, Contains("Slurm says rank 1 of 4") && Contains("torchrun says rank ? of 8"));
  CHECK_THAT(text, Contains("RANK, MASTER_PORT is not"));
}

TEST_CASE("PMIx alone does not tell the size") {
  CHECK(launch_in(with(kMpich, {{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "x"}}), kUnderHydra).launcher == "MPICH");
  CHECK_THAT(refused({{"PMIX_RANK", "1"}, {"PMIX_NAMESPACE", "x"}}, hcommInvalidUsage),
             Contains("PMIX_RANK") && Contains("number of ranks"));
}

TEST_CASE("on several hosts the launcher tells where rank 0 is") {
  const auto place = [](const Environment& environment, const std::string& file = "") {
    const Launch launch = launch_in(environment, {}, file);
    CHECK_FALSE(launch.one_host);
    REQUIRE(launch.rendezvous.size() == 1);
    const std::string port = ":" + std::to_string(run_port(launch.job));
    REQUIRE(launch.rendezvous[0].ends_with(port));
    return launch.rendezvous[0].substr(0, launch.rendezvous[0].size() - port.size());
  };
  CHECK(place(with(kTorch, {{"LOCAL_WORLD_SIZE", "2"}})) == "h");
  CHECK(place(with(kTorch, {{"LOCAL_WORLD_SIZE", "2"}, {"MASTER_ADDR", "fe80::1"}})) == "[fe80::1]");
  CHECK(place(with(kSlurm, {{"SLURM_STEP_NUM_NODES", "2"}, {"SLURM_STEP_NODELIST", "n[07-08]"}})) == "n07");
  CHECK(place(kTable, R"({"version": "1.0", "server_list": [
    {"server_id": "b", "device": [{"rank_id": "2"}, {"rank_id": "3"}]},
    {"server_id": "a", "device": [{"rank_id": "1"}, {"rank_id": "0"}]}]})") == "a");
}

TEST_CASE("torch's variables without local ones are of one host only at a loopback address") {
  Environment by_hand = {{"RANK", "1"}, {"WORLD_SIZE", "4"}, {"MASTER_PORT", "29500"}};
  for (const std::string address : {"localhost", "127.0.0.1", "127.8.0.1", "::1"}) {
    CHECK(launch_in(with(by_hand, {{"MASTER_ADDR", address}})).one_host);
  }
  CHECK_FALSE(launch_in(with(by_hand, {{"MASTER_ADDR", "10.0.0.1"}})).one_host);
}

TEST_CASE("where the launcher does not tell, HCOMM_RENDEZVOUS must") {
  for (const auto& [environment, size] :
       {std::pair{kOpenMpi, "OMPI_COMM_WORLD_LOCAL_SIZE"}, std::pair{kMpich, "MPI_LOCALNRANKS"}}) {
    const Environment spread = with(environment, {{size, "2"}});
    CHECK_THAT(refused(spread, hcommInvalidUsage), Contains("does not tell where rank 0 is; set HCOMM_RENDEZVOUS=HOST:PORT"));
    const Launch launch = launch_in(with(spread, {{"HCOMM_RENDEZVOUS", "h:7000"}}));
    CHECK(launch.rendezvous == std::vector<std::string>{"h:7000"});
    CHECK_FALSE(launch.one_host);
  }
}

TEST_CASE("ranks that are started by hand need a rank, a size and a place") {
  const Environment by_hand = {{"HCOMM_RANK", "1"}, {"HCOMM_SIZE", "4"}, {"HCOMM_RENDEZVOUS", "h:7000"}};
  const Launch launch = launch_in(by_hand);
  CHECK(launch.launcher == "by hand");
  CHECK(launch.rank == 1);
  CHECK(launch.ranks == 4);
  CHECK_FALSE(launch.one_host);
  CHECK_FALSE(launch.serves);
  CHECK(launch.rendezvous == std::vector<std::string>{"h:7000"});
  CHECK(launch.job == launch_in(with(by_hand, {{"HCOMM_RANK", "0"}})).job);
  CHECK(launch_in(with(by_hand, {{"HCOMM_RANK", "0"}})).serves);
  CHECK(launch.job != launch_in(with(by_hand, {{"HCOMM_RENDEZVOUS", "h:7001"}})).job);
  CHECK_THAT(refused(with(by_hand, {{"HCOMM_RANK", "4"}}), hcommInvalidArgument), Contains("HCOMM_RANK is 4"));
}

TEST_CASE("hosts that Slurm counts and names must be as many") {
  CHECK_THAT(refused(with(kSlurm, {{"SLURM_STEP_NUM_NODES", "3"}, {"SLURM_STEP_NODELIST", "n[1-2]"}}), hcommInvalidArgument),
             Contains("SLURM_STEP_NUM_NODES is 3, but SLURM_STEP_NODELIST has 2 hosts"));
}

TEST_CASE("own facts are true") {
  const Facts facts = own_facts();
  CHECK(facts.pid == getpid());
  CHECK(facts.uid == getuid());
  CHECK(facts.pid_namespace != 0);
}

}  // namespace
}  // namespace hcomm
