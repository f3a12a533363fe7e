#include "comm/group.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "comm/communicator.h"

namespace hcomm {
namespace {

struct Recorded {
  Communicator* communicator;
  CollectiveCall call;
  std::unique_ptr<UnequalParts> parts;  // that it borrows from, or null
};

struct Group {
  int depth = 0;
  std::vector<Recorded> calls;
  Status refusal;  // the first one
};

Group& group() {
  thread_local Group mine;
  return mine;
}

// Reserves each communicator once, and releases all that it reserved.
class Reservation {
 public:
  ~Reservation() {
    for (Communicator* const each : held_) each->release();
  }
  Status add(Communicator& communicator) {
    if (std::ranges::find(held_, &communicator) != held_.end()) return {};
    if (Status status = communicator.reserve(); !status.ok()) return status;
    held_.push_back(&communicator);
    return {};
  }
  std::span<Communicator* const> all() const { return held_; }

 private:
  std::vector<Communicator*> held_;
};

Status run_all(const std::vector<Recorded>& calls) {
  if (calls.empty()) return {};
  Reservation reserved;
  for (const Recorded& each : calls) {
    if (Status status = reserved.add(*each.communicator); !status.ok()) return status;
    if (Status status = each.communicator->prepare(each.call); !status.ok()) return status;
  }
  for (const Recorded& each : calls) each.communicator->queue(each.call);
  return wait_for(reserved.all());
}

}  // namespace

bool in_group() { return group().depth > 0; }

void group_start() { ++group().depth; }

Status group_refuse(Status why) {
  Group& mine = group();
  if (mine.refusal.ok()) mine.refusal = Status::failure(why.code(), why.trail());
  return why;
}

Status group_record(Communicator& communicator, const CollectiveCall& call) {
  HCOMM_ASSERT(in_group());
  if (Status status = communicator.check(call); !status.ok()) return group_refuse(std::move(status));
  group().calls.push_back({&communicator, call, nullptr});
  return {};
}

Status group_record(Communicator& communicator, UnequalParts parts) {
  auto kept = std::make_unique<UnequalParts>(std::move(parts));
  const CollectiveCall call = kept->call();
  if (Status status = group_record(communicator, call); !status.ok()) return status;
  group().calls.back().parts = std::move(kept);
  return {};
}

Status group_end() {
  Group& mine = group();
  if (mine.depth == 0) return Status::failure(hcommInvalidUsage, "hcommGroupEnd without hcommGroupStart");
  if (--mine.depth > 0) return {};
  const std::vector<Recorded> calls = std::exchange(mine.calls, {});
  if (Status refusal = std::exchange(mine.refusal, {}); !refusal.ok()) {
    return std::move(refusal).during("ending a group: none of its calls was issued");
  }
  return run_all(calls);
}

}  // namespace hcomm
