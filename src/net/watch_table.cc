#include "net/watch_table.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>

#include "net/sockets.h"

namespace hcomm {
namespace {

constexpr WatchTable::Id kWakeId = ~WatchTable::Id{0};
constexpr TimeNs kLooksPerSilence = 6;
constexpr TimeNs kLongestWait = 1000 * kSecond;  // whoever wants to wait longer comes back

constexpr std::uint32_t place_of(WatchTable::Id id) { return static_cast<std::uint32_t>(id); }
constexpr std::uint32_t generation_of(WatchTable::Id id) { return static_cast<std::uint32_t>(id >> 32); }

int rounded_up_ms(TimeNs duration) {
  const TimeNs bounded = std::clamp<TimeNs>(duration, 0, kLongestWait);
  return static_cast<int>((bounded + kMillisecond - 1) / kMillisecond);
}

// What a socket can do, and for a descriptor that only rings, that it rang.
constexpr std::uint32_t kOfSockets = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
constexpr std::uint32_t kOfDoorbells = EPOLLIN | EPOLLRDHUP | EPOLLET;

Status watch_with(const Descriptor& epoll, int descriptor, std::uint32_t events, WatchTable::Id id) {
  epoll_event wish{};
  wish.events = events;
  wish.data.u64 = id;
  if (epoll_ctl(epoll.get(), EPOLL_CTL_ADD, descriptor, &wish) == 0) return {};
  return refused_by_system("cannot watch a socket", errno);
}

}  // namespace

Status WatchTable::open() {
  epoll_ = Descriptor(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.open()) return refused_by_system("cannot make an epoll", errno);
  wake_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_.open()) return refused_by_system("cannot make an eventfd", errno);
  return watch_with(epoll_, wake_.get(), kOfDoorbells, kWakeId);
}

Result<WatchTable::Id> WatchTable::add(Descriptor descriptor, Watcher& watcher) {
  Result<Id> id = put(descriptor.get(), true, watcher);
  if (id.ok()) descriptor.release();
  return id;
}

Result<WatchTable::Id> WatchTable::add_foreign(int descriptor, Watcher& watcher) { return put(descriptor, false, watcher); }

Result<WatchTable::Id> WatchTable::put(int descriptor, bool owned, Watcher& watcher) {
  if (free_.empty()) {
    slots_.emplace_back();
    free_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
    free_.reserve(slots_.size());  // so that remove() needs no memory
  }
  const std::uint32_t place = free_.back();
  Slot& slot = slots_[place];
  const Id id = Id{slot.generation} << 32 | place;
  if (Status status = watch_with(epoll_, descriptor, owned ? kOfSockets : kOfDoorbells, id); !status.ok()) return status;
  free_.pop_back();
  slot.watcher = &watcher;
  slot.descriptor = descriptor;
  slot.owned = owned;
  slot.lost = false;
  return id;
}

void WatchTable::remove(Id id) {
  Slot* const slot = find(id);
  if (slot == nullptr) return;
  if (slot->descriptor >= 0) {
    // Explicitly, for a descriptor that somebody else holds too is not forgotten when it is closed here.
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, slot->descriptor, nullptr);
    if (slot->owned) ::close(slot->descriptor);
  }
  slot->watcher = nullptr;
  slot->descriptor = -1;
  ++slot->generation;
  free_.push_back(place_of(id));
}

void WatchTable::set_watcher(Id id, Watcher& watcher) {
  if (Slot* const slot = find(id); slot != nullptr) slot->watcher = &watcher;
  tell_at(id, 0);
}

int WatchTable::descriptor(Id id) const {
  const Slot* const slot = find(id);
  return slot == nullptr ? -1 : slot->descriptor;
}

bool WatchTable::lost(Id id) const {
  const Slot* const slot = find(id);
  return slot != nullptr && slot->lost;
}

void WatchTable::tell_at(Id id, TimeNs time) {
  appointments_.push_back({id, time});
  if (time >= next_appointment_.load()) return;
  next_appointment_.store(time);
  wake();
}

WatchTable::Slot* WatchTable::find(Id id) {
  if (place_of(id) >= slots_.size()) return nullptr;
  Slot& slot = slots_[place_of(id)];
  return slot.generation == generation_of(id) && slot.watcher != nullptr ? &slot : nullptr;
}

const WatchTable::Slot* WatchTable::find(Id id) const { return const_cast<WatchTable*>(this)->find(id); }

// The flag is what counts: dispatch() may take the event of the eventfd, and wait() must still return.
void WatchTable::wake() {
  if (woken_.exchange(true)) return;
  const std::uint64_t one = 1;
  while (write(wake_.get(), &one, sizeof one) < 0 && errno == EINTR) continue;
}

int WatchTable::collect(TimeNs most) {
  const int found = epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), rounded_up_ms(most));
  return std::max(found, 0);  // of an interrupted wait nothing; who waits looks at the time again
}

void WatchTable::wait(TimeNs most) {
  if (collected_ > 0) return;  // these first: the system reports each once
  const MonotonicClock clock;
  const TimeNs deadline = add_saturated(clock.now(), most);
  while (!woken_.load()) {
    const TimeNs now = clock.now();
    const TimeNs until = std::min(deadline, next_appointment_.load());
    if (now >= next_look_) {
      look_is_due_ = next_look_ != 0;
      next_look_ = now + silence_ / kLooksPerSilence;
      if (look_is_due_) break;
    }
    collected_ = collect(until - now);
    if (collected_ > 0 || clock.now() >= until) break;
  }
  woken_.store(false);
}

int WatchTable::dispatch() {
  int told = keep_appointments() + tell_of_the_lost();
  if (collected_ == 0) collected_ = collect(0);
  for (int i = 0; i < collected_; ++i) told += tell(events_[static_cast<std::size_t>(i)].data.u64) ? 1 : 0;
  collected_ = 0;
  return told;
}

bool WatchTable::tell(Id id) {
  const Slot* const slot = find(id);
  if (slot == nullptr) return false;
  slot->watcher->ready();
  return true;
}

int WatchTable::keep_appointments() {
  if (next_appointment_.load() == kNever) return 0;
  const TimeNs now = MonotonicClock().now();
  if (next_appointment_.load() > now) return 0;
  std::vector<Appointment> all;
  all.swap(appointments_);
  next_appointment_.store(kNever);
  int told = 0;
  for (const Appointment& appointment : all) {
    if (appointment.time > now) {
      tell_at(appointment.id, appointment.time);
    } else {
      told += tell(appointment.id) ? 1 : 0;
    }
  }
  return told;
}

// Only what waits gets here: a process whose calls move on has peers that answer.
int WatchTable::tell_of_the_lost() {
  if (!look_is_due_) return 0;
  look_is_due_ = false;
  int told = 0;
  for (std::size_t place = 0; place < slots_.size(); ++place) {  // a watcher may add and remove
    Slot& slot = slots_[place];
    if (slot.watcher == nullptr || !slot.owned || slot.lost || !is_unacknowledged(slot.descriptor, silence_)) continue;
    slot.lost = true;
    ++told;
    slot.watcher->ready();
  }
  return told;
}

void WatchTable::close_all_in_child() {
  epoll_.reset();
  wake_.reset();
  for (Slot& slot : slots_) {
    if (slot.owned && slot.descriptor >= 0) ::close(slot.descriptor);
    slot.descriptor = -1;
  }
}

}  // namespace hcomm
