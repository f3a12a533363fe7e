// Choices: what people may ask for, what cannot be had, and that every rank decides alike.
#include "plan/choose.h"

#include <algorithm>

#include <catch2/catch.hpp>

namespace hcomm {
namespace {

PlanRequest request_of(Collective collective, int ranks, std::size_t bytes) {
  PlanRequest request{.collective = collective, .ranks = ranks, .bytes = bytes, .cores = ranks};
  request.room = {.chunk_bytes = 4u << 20, .has_window = true, .slot_bytes = 1u << 20};
  return request;
}

Settings with_algo(const std::string& algo, Tuner tuner = Tuner::model) {
  Settings settings;
  settings.algo = algo;
  settings.tuner = tuner;
  return settings;
}

std::string chosen(const PlanRequest& request, const Settings& settings) {
  const Result<Choice> choice = choose(request, settings);
  REQUIRE(choice.ok());
  return std::string(choice.value().algorithm->name);
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

TEST_CASE("a name forces an algorithm, for all collectives or for one") {
  for (const Collective collective : kCollectives) {
    for (const std::string family : {"flat", "direct", "ring", "recursive_doubling", "pairwise"}) {
      if (find_algorithm(family, collective) == nullptr) continue;
      const Result<Choice> choice = choose(request_of(collective, 4, 4096), with_algo(family));
      REQUIRE(choice.ok());
      CHECK(choice.value().algorithm->name == family);
      CHECK(choice.value().algorithm->collective == collective);
      CHECK(choice.value().decided_by == "HCOMM_ALGO");
      CHECK(choice.value().predicted_us > 0);
    }
  }
  const Settings both = with_algo("allreduce=ring,broadcast=flat");
  CHECK(chosen(request_of(Collective::allreduce, 4, 8), both) == "ring");
  CHECK(chosen(request_of(Collective::broadcast, 4, 8), both) == "flat");
  CHECK(choose(request_of(Collective::barrier, 4, 0), both).value().decided_by == "model");
  CHECK(chosen(request_of(Collective::barrier, 4, 0), with_algo("allreduce=flat,ring")) == "ring");
  CHECK(chosen(request_of(Collective::allreduce, 4, 8), with_algo("allreduce=flat,ring")) == "flat");
  CHECK(chosen(request_of(Collective::allreduce, 4, 8), with_algo("ring,allreduce=flat")) == "flat");
  CHECK(choose(request_of(Collective::allreduce, 4, 8), with_algo("ring,allreduce=adaptive")).value().decided_by == "model");
}

TEST_CASE("a name for all collectives leaves those alone that it is not written for") {
  const Settings tree = with_algo("tree");
  CHECK(chosen(request_of(Collective::reduce, 4, 8), tree) == "tree");
  for (const Collective collective : {Collective::allgather, Collective::reduce_scatter, Collective::barrier}) {
    const Result<Choice> choice = choose(request_of(collective, 4, 4096), tree);
    REQUIRE(choice.ok());
    CHECK(choice.value().decided_by == "model");
  }
}

TEST_CASE("what a name cannot be is said, with the nearest and all legal ones") {
  const auto trail = [](const std::string& algo) {
    const Result<Choice> choice = choose(request_of(Collective::allreduce, 4, 8), with_algo(algo));
    REQUIRE_FALSE(choice.ok());
    CHECK(choice.status().code() == hcommInvalidArgument);
    return std::string(choice.status().trail());
  };
  CHECK(contains(trail("rign"), "\"rign\"; did you mean \"ring\"?"));
  CHECK(std::ranges::count(trail("rign"), '[') == 1);  // where it was decided, once
  for (const std::string legal : {"adaptive", "flat", "direct", "ring", "recursive_doubling", "halving_doubling", "tree"}) {
    CHECK(contains(trail("quantum"), legal));
  }
  CHECK(contains(trail("allreduce=rign"), "did you mean \"ring\"?"));
  CHECK(contains(trail("allredcue=ring"), "did you mean \"allreduce\"?"));
  CHECK(contains(trail("broadcast=rign"), "\"rign\""));  // also where it does not matter for this call
  for (const std::string broken : {"", ",", "ring,", "=", "allreduce=", "=ring", "ring flat", "Ring"}) {
    INFO(broken);
    CHECK_FALSE(trail(broken).empty());
  }
  CHECK(contains(trail("allgather=tree"), "tree is not written for allgather. Legal: adaptive, flat, direct, "));
  CHECK(contains(trail("ring,flat"), "the second is flat"));
  CHECK(contains(trail("allreduce=ring,allreduce=ring"), "the second is allreduce=ring"));
  for (const std::string levels : {"level0:NA;level1:ring", "allreduce=level0:NA;level1:ring/allgather=level0:ring"}) {
    CHECK(contains(trail(levels), "\"" + levels + "\" is HCCL's form by levels, which this version does not have yet"));
  }
}

TEST_CASE("a forced algorithm that cannot serve is refused by name, with those that can") {
  PlanRequest request = request_of(Collective::allreduce, 4, 8);
  request.room.has_window = false;
  const Result<Choice> choice = choose(request, with_algo("flat"));
  REQUIRE_FALSE(choice.ok());
  CHECK(choice.status().code() == hcommInvalidUsage);
  for (const std::string part : {"allreduce", "flat", "window", "valid here: adaptive, recursive_doubling, halving_doubling"}) {
    CHECK(contains(choice.status().trail(), part));
  }
  request = request_of(Collective::allreduce, 100, 8);
  request.room.slot_bytes = 64 * 99;
  const Result<Choice> small = choose(request, with_algo("direct"));
  REQUIRE_FALSE(small.ok());
  CHECK(contains(small.status().trail(), "6400"));
  CHECK(chosen(request, with_algo("adaptive")) != "direct");
}

TEST_CASE("the model takes the lowest prediction among those that can") {
  for (const Collective collective : kCollectives) {
    for (const int ranks : {1, 2, 3, 4, 8, 64}) {
      for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{64} << 10, std::size_t{64} << 20}) {
        for (const bool has_window : {false, true}) {
          PlanRequest request = request_of(collective, ranks, bytes);
          request.room.has_window = has_window;
          const Result<Choice> choice = choose(request, Settings());
          REQUIRE(choice.ok());
          CHECK(choice.value().decided_by == "model");
          for (const Candidate& candidate : candidates(request)) {
            if (candidate.refused.empty()) CHECK(choice.value().predicted_us <= candidate.predicted_us);
          }
        }
      }
    }
  }
}

TEST_CASE("small messages go the short way, large ones the way of few bytes") {
  CHECK(chosen(request_of(Collective::allreduce, 4, 8), Settings()) == "flat");
  CHECK(chosen(request_of(Collective::allreduce, 4, 64u << 20), Settings()) == "direct");
  CHECK(chosen(request_of(Collective::reduce_scatter, 4, 8), Settings()) == "flat");
  for (const Collective collective : {Collective::broadcast, Collective::reduce_scatter, Collective::allgather}) {
    CHECK(chosen(request_of(collective, 4, 8u << 20), Settings()) == "direct");  // half of the inputs need no copy
  }
  PlanRequest request = request_of(Collective::allreduce, 8, 8);
  request.room.has_window = false;
  CHECK(chosen(request, Settings()) == "recursive_doubling");
  request.bytes = 64u << 20;
  CHECK(chosen(request, Settings()) == "halving_doubling");
  request.collective = Collective::broadcast;
  CHECK(chosen(request, Settings()) == "tree");
  request.bytes = 8;
  CHECK(chosen(request, Settings()) == "recursive_doubling");
}

TEST_CASE("ranks that share cores avoid rounds") {
  PlanRequest request = request_of(Collective::allreduce, 4, 16u << 10);
  request.cores = 2;
  CHECK(chosen(request, Settings()) == "flat");
  const std::vector<Candidate> shared = candidates(request);
  request.cores = 4;
  const std::vector<Candidate> alone = candidates(request);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    INFO(alone[i].algorithm->name);
    CHECK(shared[i].predicted_us > alone[i].predicted_us + 5.5 * shared[i].rounds);
  }
}

TEST_CASE("the written rules, and what they fall back to") {
  const Settings rules = with_algo("adaptive", Tuner::rules);
  const auto decided = [&](Collective collective, int ranks, std::size_t bytes, const RankLayout& layout = {}) {
    PlanRequest request = request_of(collective, ranks, bytes);
    request.layout = layout;
    request.room.has_window = layout.hosts() == 1;
    Result<Choice> choice = choose(request, rules);
    REQUIRE(choice.ok());
    CHECK(choice.value().decided_by == "rules");
    return std::string(choice.value().algorithm->name) + " <- " + choice.value().why;
  };
  constexpr std::size_t kMb = 1u << 20;
  const Collective allreduce = Collective::allreduce;
  for (const std::size_t bytes : {std::size_t{8}, 64 * kMb}) {
    for (const int ranks : {1, 2, 4}) CHECK(decided(allreduce, ranks, bytes) == "ring <- up to 4 ranks on a host: ring");
    for (const int ranks : {9, 64}) {
      CHECK(decided(allreduce, ranks, bytes) ==
            "ring <- more than 8 ranks on a host: hierarchical_ring, which is not written for allreduce; instead ring");
    }
    CHECK(decided(allreduce, 9, bytes, parse_layout("4+3+2", 9).value()) == "ring <- up to 4 ranks on a host: ring");
  }
  for (const int ranks : {5, 8}) {
    CHECK(decided(allreduce, ranks, kMb - 4) ==
          "recursive_doubling <- 5 to 8 ranks on a host, below 1 MB: recursive_doubling");
    for (const std::size_t bytes : {kMb, 16 * kMb - 4}) {
      CHECK(decided(allreduce, ranks, bytes) == "tree <- 5 to 8 ranks on a host, 1 to 16 MB: tree");
      CHECK(decided(Collective::allgather, ranks, bytes) ==
            "recursive_doubling <- 5 to 8 ranks on a host, 1 to 16 MB: tree, which is not written for allgather; instead "
            "recursive_doubling");
    }
  }
  CHECK(decided(allreduce, 5, 16 * kMb) == "ring <- 5 to 7 ranks on a host, from 16 MB: ring");
  CHECK(decided(allreduce, 8, 16 * kMb) ==
        "ring <- 8 ranks on a host, from 16 MB: double_ring, which is not written for allreduce; instead ring");
  CHECK(decided(allreduce, 12, kMb, even_layout(2, 12).value()).starts_with("tree <- 5 to 8 ranks on a host"));
  CHECK(decided(Collective::barrier, 6, 0).starts_with("recursive_doubling"));
  CHECK(chosen(request_of(allreduce, 4, 8), with_algo("flat", Tuner::rules)) == "flat");
}

TEST_CASE("every layout has a choice, and the bytes between hosts are what the schedule says") {
  for (const Collective collective : kCollectives) {
    for (const char* const text : {"2x2", "3+1", "1+3", "4x1"}) {
      PlanRequest request = request_of(collective, 4, collective == Collective::barrier ? 0 : 4u << 20);
      request.room.has_window = false;
      request.layout = parse_layout(text, 4).value();
      REQUIRE(choose(request, Settings()).ok());
      for (const Candidate& candidate : candidates(request)) {
        INFO(name(collective) << " " << text << " " << candidate.algorithm->name);
        const bool in_window = candidate.algorithm->name == "flat" || candidate.algorithm->name == "direct";
        CHECK(candidate.refused.empty() == !in_window);
        if (in_window) continue;
        CHECK(candidate.link_bytes.window == 0);
        CHECK((candidate.link_bytes.tcp > 0) == (collective != Collective::barrier));
        if (std::string_view(text) == "4x1") CHECK(candidate.link_bytes.shm == 0);
        CHECK(candidate.predicted_us > request.costs.tcp_round_us);
      }
    }
  }
}

TEST_CASE("the halves cross between hosts with the least bytes where neighbours exchange the most") {
  PlanRequest request = request_of(Collective::allreduce, 8, 8u << 20);
  request.room.has_window = false;
  request.layout = parse_layout("2x4", 8).value();
  const auto tcp = [&](std::string_view name) {
    const std::vector<Candidate> all = candidates(request);
    return std::ranges::find(all, name, [](const Candidate& each) { return each.algorithm->name; })->link_bytes.tcp;
  };
  CHECK(tcp("halving_doubling") == 2u << 20);     // an eighth there, and back
  CHECK(tcp("recursive_doubling") == 8u << 20);   // the whole message
  CHECK(tcp("ring") == 14u << 20);                // 2 (n - 1) / n, of the rank at the edge
}

TEST_CASE("candidates say what they do") {
  const PlanRequest request = request_of(Collective::allreduce, 4, 4u << 20);
  for (const Candidate& candidate : candidates(request)) {
    INFO(candidate.algorithm->name);
    CHECK(candidate.refused.empty());
    CHECK(candidate.chunks >= 1);
    CHECK(candidate.ops > 0);
    CHECK(candidate.rounds >= 1);
    CHECK(candidate.moved_bytes >= 2 * request.bytes);
  }
  const auto moved = [&](std::string_view name) {
    const std::vector<Candidate> all = candidates(request);
    return std::ranges::find(all, name, [](const Candidate& each) { return each.algorithm->name; })->moved_bytes;
  };
  // Per rank, in messages. flat: 2 to show, 4 to read, 1 to write. direct: 2 * 3/4, then 4/4 + 2/4, then 2 * 3/4.
  CHECK(moved("flat") == 7 * request.bytes);
  CHECK(moved("direct") == request.bytes * 9 / 2);
}

TEST_CASE("flat and direct have results of one class, the others of their own") {
  for (const Collective collective : {Collective::allreduce, Collective::reduce_scatter, Collective::reduce}) {
    const auto expression = [&](std::string_view name) { return find_algorithm(name, collective)->expression; };
    CHECK(expression("flat") == expression("direct"));
    CHECK(expression("flat") != expression("ring"));
    CHECK(expression("flat") != expression("recursive_doubling"));
    CHECK(expression("ring") != expression("recursive_doubling"));
  }
}

TEST_CASE("nothing to do takes no time") {
  for (const Candidate& candidate : candidates(request_of(Collective::allreduce, 4, 0))) {
    CHECK(candidate.chunks == 0);
    CHECK(candidate.predicted_us == 0);
  }
}

}  // namespace hcomm
