// From a call to what the engine runs, with one hash probe when the same kind of call was made before.
//
// Two caches: templates (an algorithm written for a problem, without sizes) in plan's TemplateCache, and here the plans of
// calls (sizes and types bound, no pointers). A plan depends only on facts that all ranks share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/knobs.h"
#include "base/status.h"
#include "comm/arguments.h"
#include "engine/bound_call.h"
#include "plan/choose.h"
#include "plan/template_cache.h"

namespace hcomm {

// What all ranks of the communicator agreed on and choices may use.
struct SharedFacts {
  int rank = 0;  // but for this one: the program it picks is the rank's own
  int ranks = 1;
  bool has_window = false;
  int slots = 1;
  std::size_t slot_bytes = 0;
  int cores = 1;
  RankLayout layout;  // which ranks are on one host
};

struct CachedCall {
  CollectiveCall key;  // its pointers are null, but for one that says that it is a V variant
  bool used = false;
  CallPlan plan;
  std::string_view algorithm;
  std::uint64_t schedule_hash = 0;
  bool exposes = false;          // this rank shows its input, and could show it where it lies
  std::size_t input_bytes = 0;   // of the caller's send buffer, if its blocks are equal
};

class CallCache {
 public:
  CallCache(const SharedFacts& facts, const Settings& settings);

  const SharedFacts& facts() const { return facts_; }
  void learn(const SharedFacts& facts);  // and forget all plans and templates

  // Valid until the next find(). Fails if no algorithm serves the call.
  Result<const CachedCall*> find(const CollectiveCall& call) {
    CachedCall& entry = entries_[place(call)];
    if (entry.used && same_kind(entry.key, call)) return &entry;
    return add(call);
  }

  std::size_t places() const { return entries_.size(); }

 private:
  // Direct mapped. While there are fewer than the most places, two calls that meet in one make twice as many of them; after that
  // the older one goes, and costs a new plan when it comes again, some microseconds.
  static constexpr int kFirstBits = 1;
  static constexpr int kMostBits = 6;

  std::size_t place(const CollectiveCall& call) const {
    const std::uint64_t mixed = (call.count * 31 + static_cast<std::uint64_t>(call.root)) * 131 +
                                static_cast<std::uint64_t>(call.dtype) * 29 + static_cast<std::uint64_t>(call.op) * 5 +
                                static_cast<std::uint64_t>(call.collective) + (call.unequal != nullptr ? 1237 : 0);
    return static_cast<std::size_t>(mixed * 0x9e3779b97f4a7c15u >> (64 - bits_));
  }
  static bool same_kind(const CollectiveCall& a, const CollectiveCall& b) {
    return a.count == b.count && a.collective == b.collective && a.dtype == b.dtype && a.op == b.op && a.root == b.root &&
           (a.unequal != nullptr) == (b.unequal != nullptr);
  }

  Result<const CachedCall*> add(const CollectiveCall& call);
  void double_places();
  Result<CachedCall> make(const CollectiveCall& call);
  PlanRequest request(const CollectiveCall& call) const;
  Status size_up(const CollectiveCall& call, CallPlan& plan) const;
  void size_up_whole(const CollectiveCall& call, CallPlan& plan) const;

  SharedFacts facts_;
  const Settings settings_;
  TemplateCache templates_;
  int bits_ = kFirstBits;
  std::vector<CachedCall> entries_;  // [place]: 2 to the power of bits_
};

}  // namespace hcomm
