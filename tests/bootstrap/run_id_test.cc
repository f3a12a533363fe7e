#include "bootstrap/run_id.h"

#include <catch2/catch.hpp>

namespace hcomm {
namespace {

TEST_CASE("a run has one name for all its ranks, and another than any other run") {
  const JobId run = derive_run_id(1000, {"Slurm", "SLURM_JOB_ID=7", "SLURM_STEP_ID=0"}).value();
  CHECK(run == derive_run_id(1000, {"Slurm", "SLURM_JOB_ID=7", "SLURM_STEP_ID=0"}).value());
  const std::vector<std::vector<std::string>> others = {
      {"Slurm", "SLURM_JOB_ID=7", "SLURM_STEP_ID=1"},
      {"Slurm", "SLURM_JOB_ID=7"},
      {"SLURM_JOB_ID=7", "Slurm", "SLURM_STEP_ID=0"},
      {"Slurm", "SLURM_JOB_ID=7SLURM_STEP_ID=0"},
      {"Slurm", "SLURM_JOB_ID=7\n15:SLURM_STEP_ID=0"},
      {}};
  for (const auto& facts : others) {
    const JobId other = derive_run_id(1000, facts).value();
    CHECK(other.name != run.name);
    CHECK(other.secret != run.secret);
  }
  CHECK(derive_run_id(1001, {"Slurm", "SLURM_JOB_ID=7", "SLURM_STEP_ID=0"}).value().name != run.name);
}

TEST_CASE("a run's port is one of its range, and follows from its name") {
  JobId run;
  CHECK(run_port(run) == kFirstRunPort);
  run.name[0] = run.name[1] = std::byte{0xff};
  CHECK(run_port(run) == kFirstRunPort + kRunPorts - 1);
  run.name = {std::byte{0x12}, std::byte{0x34}};
  CHECK(run_port(run) == kFirstRunPort + 0x1234);
}

}  // namespace
}  // namespace hcomm
