// Goal: ranks that have no connection yet and all dial each other at once lose nothing.
// Method: fresh hubs each time; a barrier, then every rank sends to all before it looks at what it receives.
#include <barrier>
#include <catch2/catch.hpp>
#include <deque>

#include "team.h"

namespace hcomm::test {
namespace {

std::vector<std::byte> message_of(int from, int to, int turn) {
  return pattern(std::size_t{1} << 20, static_cast<std::uint64_t>((turn * 16 + from) * 16 + to));
}

}  // namespace

TEST_CASE("B085 all ranks dial all others at once, and a large first message arrives each way") {
  for (int turn = 0; turn < 20; ++turn) {
    const int ranks = 4 + turn % 5;
    INFO("turn " << turn << ", " << ranks << " ranks");
    std::barrier<> start(ranks);
    const std::string outcome = run_team({.kind = Kind::tcp, .ranks = ranks}, [&](Transport& transport, int rank) {
      std::vector<std::vector<std::byte>> sent, got;
      for (int peer = 0; peer < ranks; ++peer) {
        sent.push_back(message_of(rank, peer, turn));
        got.emplace_back(sent.back().size());
      }
      std::deque<Completion> sends(sent.size()), receives(got.size());
      start.arrive_and_wait();
      for (int step = 1; step < ranks; ++step) {
        const int peer = (rank + step) % ranks;
        const auto at = static_cast<std::size_t>(peer);
        send(transport, peer, Lane::collective, sent[at], sends[at]);
      }
      for (int peer = 0; peer < ranks; ++peer) {
        if (peer == rank) continue;
        const auto at = static_cast<std::size_t>(peer);
        recv(transport, peer, Lane::collective, got[at], receives[at]);
      }
      for (int peer = 0; peer < ranks; ++peer) {
        if (peer == rank) continue;
        wait_for(transport, receives[static_cast<std::size_t>(peer)]);
        wait_for(transport, sends[static_cast<std::size_t>(peer)]);
        expect(got[static_cast<std::size_t>(peer)] == message_of(peer, rank, turn),
               "wrong bytes from rank " + std::to_string(peer));
      }
    });
    REQUIRE(outcome == "");
  }
}

}  // namespace hcomm::test
