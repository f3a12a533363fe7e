// Goal: a repeated 8-byte allreduce between ranks that are ready allocates nothing, takes no lock, makes no system call and reads
//       no clock.
// Method: this program's own malloc, pthread_mutex_lock and clock_gettime count; system calls are trapped by the kernel's
//         system call user dispatch. One thread drives both ranks, so that the peer is always ready. A canary shows that each
//         counter counts.
#include <catch2/catch.hpp>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <mutex>

#include "base/clock.h"
#include "world.h"

namespace {

struct Counts {
  long allocations = 0;
  long locks = 0;
  long clock_reads = 0;
  long system_calls = 0;
};

thread_local bool counting = false;
thread_local Counts counts;

}  // namespace

extern "C" {

void* __libc_malloc(size_t bytes);

void* malloc(size_t bytes) {
  if (counting) ++counts.allocations;
  return __libc_malloc(bytes);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  using Lock = int (*)(pthread_mutex_t*);
  static const Lock real = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  if (counting) ++counts.locks;
  return real(mutex);
}

int clock_gettime(clockid_t clock, timespec* time) {
  using Read = int (*)(clockid_t, timespec*);
  static const Read real = reinterpret_cast<Read>(dlsym(RTLD_NEXT, "clock_gettime"));
  if (counting) ++counts.clock_reads;
  return real(clock, time);
}

}  // extern "C"

namespace hcomm {
namespace {

// The kernel asks this byte before each system call of the thread: 1 traps it.
constexpr int kUserDispatch = 59;  // PR_SET_SYSCALL_USER_DISPATCH
volatile char trap = 0;

void on_trapped_call(int) {
  ++counts.system_calls;
  trap = 0;  // the first one is proof enough; the call itself was not made
}

class SystemCallTrap {
 public:
  SystemCallTrap() {
    struct sigaction action {};
    action.sa_handler = on_trapped_call;
    sigaction(SIGSYS, &action, &before_);
    works_ = prctl(kUserDispatch, 1UL, 0UL, 0UL, &trap) == 0;
  }
  ~SystemCallTrap() {
    trap = 0;
    if (works_) prctl(kUserDispatch, 0UL, 0UL, 0UL, 0UL);
    sigaction(SIGSYS, &before_, nullptr);
  }
  SystemCallTrap(const SystemCallTrap&) = delete;
  SystemCallTrap& operator=(const SystemCallTrap&) = delete;
  bool works() const { return works_; }

 private:
  struct sigaction before_ {};
  bool works_ = false;
};

template <class Body>
Counts count(const SystemCallTrap& trapper, Body&& body) {
  counts = {};
  counting = true;
  if (trapper.works()) trap = 1;
  body();
  trap = 0;
  counting = false;
  return counts;
}

}  // namespace

TEST_CASE("a repeated 8-byte allreduce is quiet") {
  SystemCallTrap trapper;
  if (!trapper.works()) WARN("this kernel has no system call user dispatch: system calls are not counted");
  for (const char* const transport : {"loopback", "shm"}) {
    Settings settings;
    settings.transport = transport;
    const auto world = testing::make_world(2, settings);
    std::array<Communicator*, 2> both = {world[0].get(), world[1].get()};
    std::array<std::int64_t, 2> send = {3, 4}, recv = {};
    Status status;
    const auto allreduce = [&] {
      for (std::size_t rank = 0; rank < 2; ++rank) {
        both[rank]->queue(
            {.collective = Collective::allreduce, .send = &send[rank], .recv = &recv[rank], .count = 1, .dtype = hcommInt64});
      }
      status = wait_for(both);
    };
    allreduce();  // the first one plans
    testing::require(status);
    const Counts quiet = count(trapper, [&] {
      for (int i = 0; i < 1000 && status.ok(); ++i) allreduce();
    });
    INFO(transport);
    testing::require(status);
    CHECK(recv[0] == 7);
    CHECK(recv[1] == 7);
    CHECK(quiet.allocations == 0);
    CHECK(quiet.locks == 0);
    CHECK(quiet.clock_reads == 0);
    CHECK(quiet.system_calls == 0);
  }
}

TEST_CASE("the counters count") {
  SystemCallTrap trapper;
  std::mutex mutex;
  const Counts loud = count(trapper, [&] {
    std::unique_ptr<int> made(new int(1));
    const std::lock_guard lock(mutex);
    static_cast<void>(MonotonicClock().now());
    static_cast<void>(getppid());
  });
  CHECK(loud.allocations >= 1);
  CHECK(loud.locks >= 1);
  CHECK(loud.clock_reads >= 1);
  if (trapper.works()) CHECK(loud.system_calls == 1);
}

}  // namespace hcomm
