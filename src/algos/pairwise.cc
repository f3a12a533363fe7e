// Each pair of ranks that has something for each other talks directly, over a channel: no byte travels twice.
//
// Of a gather and a scatter one of the pair is the root. An alltoall has as many rounds as ranks, and in each a rank meets one
// other: in round k, rank r meets k - r (modulo the ranks). That is mutual, so whoever is met has nothing else to wait for; in
// some rounds it is the rank itself. What comes may lie where what goes still lies (in place), so it lands in scratch, while the
// next one is under way already.
//
// The pairing is the classical one of pairwise exchange for any number of ranks, as in round-robin tournaments.
#include "algos/entries.h"
#include "algos/parts.h"

namespace hcomm {
namespace {

void gather(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const int rank = self.rank();
  if (rank != self.root()) return self.send(self.input(rank), self.root());
  for (int distance = 1; distance < self.ranks(); ++distance) {
    const int peer = wrap(rank + distance, self.ranks());
    self.recv(self.output(peer), peer);
  }
  self.copy(self.input(rank), self.output(rank));
}

void scatter(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const int rank = self.rank();
  if (rank != self.root()) return self.recv(self.output(rank), self.root());
  for (int distance = 1; distance < self.ranks(); ++distance) {
    const int peer = wrap(rank + distance, self.ranks());
    self.send(self.input(peer), peer);
  }
  self.copy(self.input(rank), self.output(rank));
}

// The ranks to meet, in the order of the rounds; oneself is left out.
std::vector<int> meetings_of(const ProgramBuilder& self) {
  std::vector<int> peers;
  for (int round = 0; round < self.ranks(); ++round) {
    const int peer = wrap(round - self.rank(), self.ranks());
    if (peer != self.rank()) peers.push_back(peer);
  }
  return peers;
}

void alltoall(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const int rank = self.rank();
  const std::vector<int> peers = meetings_of(self);
  const auto landing = [&](std::size_t round) {
    return self.scratch(static_cast<int>(round % 2), block_between(self, peers[round], rank));
  };
  self.recv(landing(0), peers[0]);
  self.copy(self.input(block_between(self, rank, rank)), self.output(block_between(self, rank, rank)));
  for (std::size_t round = 0; round < peers.size(); ++round) {
    const int peer = peers[round];
    if (round + 1 < peers.size()) self.recv(landing(round + 1), peers[round + 1]);
    self.send(self.input(block_between(self, rank, peer)), peer);
    self.copy(landing(round), self.output(block_between(self, peer, rank)));
  }
}

Shape pairs_with_landing(const Problem& problem) {
  return {.blocks = strided_blocks(problem.collective, problem.ranks), .scratch_units = problem.ranks > 1 ? 2 : 0};
}

int one_round(const Problem& problem) { return problem.ranks > 1 ? 1 : 0; }
int round_per_rank(const Problem& problem) { return problem.ranks > 2 ? problem.ranks : problem.ranks - 1; }

}  // namespace

const Family<3> kPairwise = {{
    {"pairwise", Collective::gather, any_problem, block_per_rank, one_round, "", gather, nullptr, true},
    {"pairwise", Collective::scatter, any_problem, block_per_rank, one_round, "", scatter, nullptr, true},
    {"pairwise", Collective::alltoall, any_problem, pairs_with_landing, round_per_rank, "", alltoall, nullptr, true},
}};

}  // namespace hcomm
