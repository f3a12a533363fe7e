#include "transport/keeper.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "transport/doorbell.h"
#include "transport/futex.h"
#include "transport/peer_windows.h"
#include "transport/robust_pulses.h"

namespace hcomm {
namespace {

constexpr TimeNs kGlance = 5 * kMillisecond;  // where the kernel cannot wait on several words, or they are too many
constexpr TimeNs kRound = kSecond;            // otherwise; for wake-ups that went to a watcher who died
constexpr std::size_t kStackBytes = 256 << 10;

class Keeper {
 public:
  static Keeper& instance() {
    static Keeper* const keeper = new Keeper;  // never destroyed: its thread may outlive static objects
    return *keeper;
  }

  Status join(const LifeLine& line);
  void leave(const LifeLine& line);

 private:
  Keeper();
  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();

  Status start();
  void stop();
  void run();
  void poke();
  TimeNs scan(std::vector<ExpectedWord>& words);

  std::mutex life_mutex_;  // guards the start and end of the thread; taken before lines_mutex_
  pthread_t thread_{};
  bool is_running_ = false;

  std::mutex lines_mutex_;  // guards the two below
  std::vector<LifeLine> lines_;
  RobustPulses pulses_;  // of the thread

  std::atomic<std::uint32_t> control_{0};  // changes when lines_ does
  std::atomic<bool> is_stopping_{false};
  std::atomic<std::uint32_t> thread_id_{0};  // 0: not yet known; kRefused: it could not start
};

constexpr std::uint32_t kRefused = UINT32_MAX;

void ring_everybody(const LifeLine& line) {
  for (int rank = 0; rank < line.ranks; ++rank) ring_always(line.doorbells[rank]);
}

// Of the pulse of a peer: true if its kernel said that it died. Else asks the kernel to wake us when that happens.
bool has_died(Pulse& pulse, std::uint32_t& word) {
  word = pulse.word.load(std::memory_order_acquire);
  while (word != 0 && (word & FUTEX_OWNER_DIED) == 0 && (word & FUTEX_WAITERS) == 0) {
    if (pulse.word.compare_exchange_weak(word, word | FUTEX_WAITERS, std::memory_order_acq_rel)) word |= FUTEX_WAITERS;
  }
  return (word & FUTEX_OWNER_DIED) != 0;
}

// The word to watch for this line: of the next rank to the right that is not known to be gone. Null if all are.
ExpectedWord watch_right(LifeLine& line) {
  ExpectedWord watched;
  bool has_news = false;
  for (int distance = 1; distance < line.ranks && watched.word == nullptr; ++distance) {
    const int peer = (line.self + distance) % line.ranks;
    if (!line.watches(peer) || line.board.is_dead(peer)) continue;
    Pulse& pulse = line.pulses[peer];
    std::uint32_t word = 0;
    if (has_died(pulse, word)) {
      line.board.set_dead(peer);
      has_news = true;
    } else {
      watched = {&pulse.word, word};
    }
  }
  if (has_news) ring_everybody(line);
  return watched;
}

Keeper::Keeper() { pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child); }

void Keeper::before_fork() {
  instance().life_mutex_.lock();
  instance().lines_mutex_.lock();
}

void Keeper::after_fork_in_parent() {
  instance().lines_mutex_.unlock();
  instance().life_mutex_.unlock();
}

// No thread and, since the memory is kept from children, no lines.
void Keeper::after_fork_in_child() {
  Keeper& keeper = instance();
  keeper.is_running_ = false;
  keeper.lines_.clear();
  keeper.pulses_.forget_all();
  after_fork_in_parent();
}

Status Keeper::join(const LifeLine& line) {
  const std::lock_guard life(life_mutex_);
  if (!is_running_) {
    if (Status status = start(); !status.ok()) return status;
  }
  bool taken = false;
  bool was_empty = false;
  {
    const std::lock_guard lock(lines_mutex_);
    was_empty = lines_.empty();
    lines_.reserve(lines_.size() + 1);
    taken = pulses_.take(line.pulses[line.self], thread_id_.load());
    if (taken) lines_.push_back(line);
    if (taken) line.pulses[line.self].pid_namespace.store(own_pid_namespace(), std::memory_order_relaxed);
  }
  if (!taken) {
    if (was_empty) stop();
    return Status::failure(hcommInvalidUsage, "rank " + std::to_string(line.self) + " of this communicator is already in use");
  }
  futex_wake(line.pulses[line.self].word, kWakeAll);  // the left neighbour waits for us to come
  poke();
  return {};
}

void Keeper::leave(const LifeLine& line) {
  const std::lock_guard life(life_mutex_);
  Pulse& pulse = line.pulses[line.self];
  bool is_last = false;
  {
    const std::lock_guard lock(lines_mutex_);
    pulses_.release(pulse);
    std::erase_if(lines_, [&](const LifeLine& other) { return &other.pulses[other.self] == &pulse; });
    is_last = lines_.empty();
  }
  poke();  // before the caller unmaps: the thread then waits for no word that may be gone
  futex_wake(pulse.word, kWakeAll);
  if (is_last) stop();
}

Status Keeper::start() {
  is_stopping_.store(false);
  thread_id_.store(0);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  sigset_t all;
  sigfillset(&all);
  pthread_attr_setsigmask_np(&attributes, &all);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  const auto body = [](void* keeper) -> void* {
    static_cast<Keeper*>(keeper)->run();
    return nullptr;
  };
  const int error = pthread_create(&thread_, &attributes, body, this);
  pthread_attr_destroy(&attributes);
  if (error != 0) return Status::failure(hcommSystemError, std::string("starting the keeper thread: ") + std::strerror(error));
  while (thread_id_.load() == 0) futex_wait(thread_id_, 0, kSecond);
  is_running_ = true;
  if (thread_id_.load() != kRefused) return {};
  stop();
  return Status::failure(hcommSystemError, "the kernel refused a robust futex list (set_robust_list); is a sandbox in the way?");
}

void Keeper::stop() {
  is_stopping_.store(true);
  poke();
  pthread_join(thread_, nullptr);
  is_running_ = false;
}

void Keeper::poke() {
  control_.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(control_, kWakeAll);
}

// Looks at all that is watched, and lists the words to wait for, control_ first. Returns for how long.
TimeNs Keeper::scan(std::vector<ExpectedWord>& words) {
  words.clear();
  words.push_back({&control_, control_.load(std::memory_order_seq_cst)});
  const std::lock_guard lock(lines_mutex_);
  bool complete = true;
  for (LifeLine& line : lines_) {
    const ExpectedWord watched = watch_right(line);
    if (watched.word == nullptr) continue;
    if (words.size() < kMostWords) {
      words.push_back(watched);
    } else {
      complete = false;
    }
  }
  return complete ? kRound : kGlance;
}

void Keeper::run() {
  pthread_setname_np(pthread_self(), "hcomm-keeper");
  const bool adopted = pulses_.adopt_calling_thread();
  thread_id_.store(adopted ? static_cast<std::uint32_t>(syscall(SYS_gettid)) : kRefused);
  futex_wake(thread_id_, kWakeAll);
  std::vector<ExpectedWord> words;
  while (!is_stopping_.load()) {
    const TimeNs most = scan(words);
    if (!futex_wait_any(words, most)) futex_wait(control_, words.front().expected, kGlance);
  }
}

}  // namespace

Status join_keeper(const LifeLine& line) { return Keeper::instance().join(line); }

void leave_keeper(const LifeLine& line) { Keeper::instance().leave(line); }

void check_processes(const LifeLine& line) {
  static const std::uint64_t own_namespace = own_pid_namespace();
  if (own_namespace == 0) return;
  LifeLine watched = line;
  bool has_news = false;
  for (int rank = 0; rank < line.ranks; ++rank) {
    const int pid = line.board.pid(rank);
    if (!line.watches(rank) || pid <= 0 || line.board.is_dead(rank)) continue;
    if (line.pulses[rank].pid_namespace.load(std::memory_order_relaxed) != own_namespace) continue;
    if (kill(pid, 0) == 0 || errno != ESRCH) continue;
    watched.board.set_dead(rank);
    has_news = true;
  }
  if (has_news) ring_everybody(line);
}

}  // namespace hcomm
