// Schedules that use everything a schedule can have.
#pragma once

#include "schedule/builder.h"
#include "schedule/schedule.h"

namespace hcomm {

// Two ranks, written by the builder: all sections, buffers, formats, marks and kinds of op.
inline Schedule sample() {
  const Problem problem{.collective = Collective::allreduce, .ranks = 2, .slots = 2};
  const Shape shape{.blocks = 4, .scratch_units = 4, .slot_units = 4};
  Schedule schedule{.algorithm = "sample", .problem = problem, .shape = shape, .programs = {}};
  for (int rank = 0; rank < 2; ++rank) {
    const int peer = 1 - rank;
    ProgramBuilder self(problem, shape, rank);
    self.send(self.nothing(), peer);
    self.recv(self.nothing(), peer);
    self.body();
    self.await(peer, Phase::finished, 2);
    self.copy(self.input(0, 4), self.exposed(rank, 0, 0, 4));
    self.signal(Phase::filled);
    self.await_others(Phase::filled);
    self.combine({prepared(self.exposed(peer, 2, 2)), prepared(self.input(2))},
                 {partial(self.scratch(3, 2)), finished(self.slot(rank, 2, 2))});
    self.send(partial(self.scratch(3, 2)), peer);
    self.recv(partial(self.scratch(1, 2)), peer);
    self.combine({partial(self.scratch(1, 2)), partial(self.scratch(3, 2))}, {finished(self.output(2))});
    self.signal(Phase::reduced);
    self.epilogue();
    self.await_others(Phase::reduced);
    schedule.programs.push_back(std::move(self).finish());
  }
  return schedule;
}

}  // namespace hcomm
