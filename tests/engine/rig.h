// All ranks of a communicator in one thread, their engines driven by hand. The order of their steps is drawn from a seed, so a
// failure can be played again. No clock, no waiting, no planner: the sizes are the test's own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "algos/algorithm.h"
#include "base/random.h"
#include "comm/arguments.h"
#include "engine/engine.h"
#include "plan/template_cache.h"
#include "transport/faults.h"
#include "transport/transport.h"

namespace hcomm::testing {

struct WorldSpec {
  bool shared_memory = false;  // open_shm, else open_loopback
  int ranks = 2;
  int slots = 2;
  FaultPlan faults = FaultPlan::none();
  std::uint64_t seed = 1;
  bool maps_windows = true;  // the engines get a PeerWindows
};

std::string describe(const WorldSpec& spec);

inline constexpr std::size_t kMostUnitLines = 64;
inline constexpr std::size_t kMostCallBytes = std::size_t{256} << 10;  // of the larger buffer of a task

// A collective that all ranks run, each in memory of its own.
struct Task {
  CollectiveCall call;  // its pointers are not used
  const Algorithm* algorithm = nullptr;
  std::size_t unit_lines = kMostUnitLines;  // cache lines of elements in a unit; few of them make many chunks
  bool may_inline = true;      // slots lie in the step lines where the message fits
  std::uint32_t windowed = 0;  // bit r: rank r's send buffer lies in a window
  std::uint32_t in_place = 0;  // bit r: rank r sends from where it receives
  Store store = Store::regular;
};

std::string describe(const Task& task);

// Memory of one call, with a canary on either side.
class Arena {
 public:
  ~Arena();
  std::span<std::byte> take(std::size_t bytes, bool windowed);
  bool canaries_live() const;
  void spoil();

 private:
  std::vector<std::byte> private_;
  std::span<std::byte> window_;  // owned; empty until it is needed
  std::span<std::byte> taken_;
};

// One rank: what a communicator would be, without its patience.
class DrivenRank {
 public:
  DrivenRank(const WorldSpec& spec, int rank, std::unique_ptr<Transport> transport);

  // Makes plan and memory of a task; good until the next bind().
  BoundCall bind(const Task& task);
  void start(const BoundCall& call) { engine_.start(call); }
  void begin(const Task& task) { start(bind(task)); }
  int step() { return engine_.step(); }

  // After the end of a task: what is wrong with its memory, or "". Then spoils that memory, as its owner is free to.
  std::string finish();

  std::uint32_t awaited() const;  // bit r: the run cannot go on without rank r
  const Engine& engine() const { return engine_; }
  Transport& transport() { return *transport_; }
  const CallPlan& plan() const { return plan_; }

 private:
  const int rank_;
  const int ranks_;
  const int slots_;
  std::unique_ptr<Transport> transport_;
  PeerWindows peer_windows_;
  TemplateCache templates_;
  Arena send_;
  Arena recv_;
  std::size_t calls_ = 0;         // that were bound
  std::vector<std::byte> input_;  // what the send buffer must still hold; empty in place
  std::vector<std::byte> expected_;
  CallPlan plan_;
  BoundCall bound_;
  Engine engine_;
};

// What the tasks of a world went through, to show that it was what a test is about.
struct Seen {
  long waits = 0;          // steps that returned 0
  long slots_reused = 0;   // runs with more chunks than slots
  long inlined = 0;
  long windowed = 0;
  long ahead = 0;          // a rank began a task while another was in the one before
};

class World {
 public:
  explicit World(const WorldSpec& spec);

  DrivenRank& rank(int which) { return *ranks_[static_cast<std::size_t>(which)]; }

  // All ranks run the tasks, each beginning the next one when its last one has ended. "" or what went wrong.
  std::string run(std::span<const Task> tasks);

  const Seen& seen() const { return seen_; }

 private:
  int draw(const std::vector<std::size_t>& done, std::size_t tasks);
  std::string turn(int which, const Task& task, bool begins);
  std::string check_wait(int which, int work, bool begins);

  const WorldSpec spec_;
  Random random_;
  std::vector<std::unique_ptr<DrivenRank>> ranks_;
  std::vector<std::uint64_t> weights_;   // how often a rank has its turn
  std::vector<std::uint32_t> blocked_;   // by whom, since its last step; 0: not known
  Seen seen_;
};

}  // namespace hcomm::testing
