#include "schedule/builder.h"

#include <catch2/catch.hpp>

namespace hcomm {
namespace {

const Problem kProblem{.collective = Collective::allreduce, .ranks = 3, .slots = 2};
const Shape kShape{.blocks = 4, .scratch_units = 4, .slot_units = 4};

ProgramBuilder builder() { return {kProblem, kShape, 1}; }

std::vector<std::uint32_t> waits_of_last(ProgramBuilder&& self) {
  const Program program = std::move(self).finish();
  const auto waits = program.waits_of(program.ops.back());
  return {waits.begin(), waits.end()};
}

using Waits = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("an op waits for the receive that writes what it reads, and for no other") {
  ProgramBuilder self = builder();
  self.recv(self.scratch(0, 0), 0);
  self.recv(self.scratch(1, 1), 0);
  self.copy(self.scratch(1, 1), self.output(1));
  CHECK(waits_of_last(std::move(self)) == Waits{1});
}

TEST_CASE("an op waits for the send that reads what it writes, but not for one that reads what it reads") {
  ProgramBuilder self = builder();
  self.send(self.scratch(0, 0), 0);
  self.copy(self.scratch(0, 0), self.output(0));
  CHECK(waits_of_last(std::move(self)).empty());
  ProgramBuilder other = builder();
  other.send(other.scratch(0, 0), 0);
  other.copy(other.input(0), other.scratch(0, 0));
  CHECK(waits_of_last(std::move(other)) == Waits{0});
}

TEST_CASE("in place the output is the input, so a write to one waits for a send of the other") {
  ProgramBuilder self = builder();
  self.send(self.input(2), 0);
  self.copy(self.scratch(0, 2), self.output(2));
  CHECK(waits_of_last(std::move(self)) == Waits{0});
}

TEST_CASE("what was waited for once is not waited for again") {
  ProgramBuilder self = builder();
  self.recv(self.scratch(0, 0), 0);
  self.copy(self.scratch(0, 0), self.output(0));
  self.copy(self.scratch(0, 0), self.scratch(1, 0));
  CHECK(waits_of_last(std::move(self)).empty());
}

TEST_CASE("a signal waits for what touches slots, because it tells of them") {
  ProgramBuilder self = builder();
  self.recv(self.slot(1, 0, 0), 0);
  self.send(self.exposed(2, 1, 1), 0);
  self.recv(self.scratch(0, 0), 0);
  self.signal(Phase::filled);
  CHECK(waits_of_last(std::move(self)) == Waits{0, 1});
}

TEST_CASE("sections follow each other, and their sends have ended at their end") {
  ProgramBuilder self = builder();
  self.recv(self.scratch(0, 0), 0);
  self.body();
  self.copy(self.scratch(0, 0), self.output(0));
  self.epilogue();
  self.signal(Phase::finished);
  const Program program = std::move(self).finish();
  CHECK(program.prologue == Section{0, 1});
  CHECK(program.body == Section{1, 1});
  CHECK(program.epilogue == Section{2, 1});
  CHECK(program.waits.empty());
}

TEST_CASE("an author who names no section writes a body, and one who names the epilogue alone a body and that") {
  ProgramBuilder self = builder();
  self.signal(Phase::filled);
  const Program body = std::move(self).finish();
  CHECK(body.body == Section{0, 1});
  CHECK(body.prologue == Section{});
  ProgramBuilder other = builder();
  other.signal(Phase::filled);
  other.epilogue();
  other.signal(Phase::finished);
  const Program both = std::move(other).finish();
  CHECK(both.prologue == Section{});
  CHECK(both.body == Section{0, 1});
  CHECK(both.epilogue == Section{1, 1});
}

TEST_CASE("the others are awaited from the right neighbour on") {
  ProgramBuilder self = builder();
  self.await_others(Phase::reduced, 1);
  const Program program = std::move(self).finish();
  REQUIRE(program.ops.size() == 2);
  CHECK(program.ops[0].peer == 2);
  CHECK(program.ops[1].peer == 0);
  CHECK(program.ops[1].back == 1);
  CHECK(program.ops[1].phase == Phase::reduced);
}

}  // namespace hcomm
