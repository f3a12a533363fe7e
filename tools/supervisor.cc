#include "supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <vector>

#include "base/knobs.h"
#include "blame.h"
#include "bootstrap/coordinator.h"
#include "comm/open.h"
#include "descendants.h"
#include "line_output.h"

namespace hcomm {
namespace {

constexpr TimeNs kLookAgain = 50 * kMillisecond;         // for who is still there, while ending
constexpr TimeNs kKillAgain = 20 * kMillisecond;
constexpr TimeNs kKillWithin = 5 * kSecond;              // then what cannot be killed is named and left
constexpr TimeNs kImpatientAfter = 500 * kMillisecond;   // a second signal from the user no sooner is one: kill at once
constexpr TimeNs kLastWordsWithin = 2 * kSecond;         // to a reader that does not read, after the user ended the job
constexpr TimeNs kLongestSleep = 500 * kMillisecond;

// Only become() changes it.
enum class Phase : std::uint8_t {
  running,   // ranks start, work and end
  ending,    // all were asked to end; after the grace they are killed
  killing,   // again and again until nobody is left
  draining,  // nobody is left; what they wrote is passed on
  done,
};

constexpr bool may_become(Phase from, Phase to) {
  switch (from) {
    case Phase::running:  return to == Phase::ending || to == Phase::draining;
    case Phase::ending:   return to == Phase::killing || to == Phase::draining;
    case Phase::killing:  return to == Phase::draining;
    case Phase::draining: return to == Phase::done;
    case Phase::done:     return false;
  }
  unreachable();
}

class Supervisor {
 public:
  Supervisor(const JobOptions& options, const StartPlan& plan, Descriptor lifeline)
      : options_(options), plan_(plan), lifeline_(std::move(lifeline)) {}

  int run();

 private:
  struct Stream {
    Descriptor reader;
    LineSource lines;
  };
  struct Rank {
    pid_t pid;
    bool alive = true;
    std::array<Stream, 2> streams;
  };

  Status prepare();
  void become(Phase next);
  void begin_ending(int signal);
  void start_next();
  void wait_for_something();
  TimeNs sleep_limit() const;
  void hear_lifeline();
  void hear_signal(int signal, bool from_terminal);
  void reap();
  void rank_ended(std::size_t index, int wait_status);
  void ask_who_failed();
  bool is_blamed(std::size_t index) const;
  bool explains_failure(std::size_t index, int wait_status) const;
  void read_streams();
  bool read_stream(Stream& stream);
  void drain();
  void advance(TimeNs now);
  void say(const std::string& line) { output_.put(2, "hcomm run: " + line + "\n"); }
  void pass_on_warnings();
  void note_lost_output();
  bool all_started() const { return static_cast<int>(ranks_.size()) == options_.ranks; }
  [[noreturn]] void die_with_launcher();

  const JobOptions& options_;
  const StartPlan& plan_;
  const MonotonicClock clock_;
  Descriptor lifeline_;
  Descriptor child_signal_;
  std::string job_;
  LineOutput output_;
  std::vector<Rank> ranks_;
  int alive_ = 0;
  Phase phase_ = Phase::running;
  TimeNs phase_since_ = 0;
  TimeNs look_at_ = 0;       // next time to look for who is still there
  int exit_code_ = 0;
  bool failed_ = false;      // exit_code_ is decided
  bool blames_exit_ = false;  // it is that of a rank that exited by itself
  bool user_ended_ = false;  // by a signal to the launcher
  bool lost_output_ = false;  // and said so
  std::vector<int> blamed_;  // ranks that those who failed first give as their reason
  // Of the coordinator's thread; guarded by shared_mutex_.
  std::mutex shared_mutex_;
  std::vector<std::string> warnings_;
  Settings segment_settings_;
  Descriptor segment_;  // that the ranks share, once they met
  std::unique_ptr<Coordinator> coordinator_;
};

Status Supervisor::prepare() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  rlimit limit = plan_.descriptor_limit;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  child_signal_ = Descriptor(signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!child_signal_.open()) return Status::failure(hcommSystemError, "cannot make a signalfd");
  Result<JobId> job = make_job_id();
  if (!job.ok()) return std::move(job).status();
  job_ = to_hex(job.value());
  const auto segment_for = [this](int ranks) -> Result<int> {
    Result<KnobReading> knobs = read_knobs(process_sources());
    if (!knobs.ok()) return std::move(knobs).status();
    Result<int> segment = make_segment(ranks, knobs.value().settings);
    if (!segment.ok()) return segment;
    const std::lock_guard lock(shared_mutex_);
    segment_settings_ = knobs.value().settings;
    segment_ = Descriptor(fcntl(segment.value(), F_DUPFD_CLOEXEC, 3));  // without it nobody can be blamed, that is all
    return segment;
  };
  const auto keep_warning = [this](std::string_view line) {
    const std::lock_guard lock(shared_mutex_);
    warnings_.emplace_back(line);
  };
  auto started = start_coordinator(
      job.value(), {.ranks = options_.ranks, .many_rounds = true, .make_segment = segment_for, .warn = keep_warning});
  if (!started.ok()) return std::move(started).status();
  coordinator_ = std::move(started).value();
  return {};
}

void Supervisor::become(Phase next) {
  HCOMM_ASSERT(may_become(phase_, next));
  phase_ = next;
  phase_since_ = clock_.now();
  look_at_ = phase_since_;
}

void Supervisor::begin_ending(int signal) {
  if (phase_ != Phase::running) return;
  if (signal != 0) signal_descendants(signal);
  become(Phase::ending);
}

void Supervisor::start_next() {
  const auto rank = static_cast<int>(ranks_.size());
  Result<RankProcess> started = start_rank(plan_, rank, options_.ranks, job_);
  if (!started.ok()) {
    say(std::string(started.status().trail()));
    failed_ = true;
    exit_code_ = rank == 0 ? kCannotExecute : 1;
    return begin_ending(SIGTERM);
  }
  const std::string prefix = options_.prefix ? "[" + std::to_string(rank) + "] " : "";
  RankProcess& process = started.value();
  ranks_.push_back(
      {process.pid, true, {Stream{std::move(process.output), {1, prefix}}, Stream{std::move(process.errors), {2, prefix}}}});
  ++alive_;
}

TimeNs Supervisor::sleep_limit() const {
  if (phase_ == Phase::running && !all_started()) return 0;
  if (phase_ == Phase::running) return kLongestSleep;
  return std::clamp<TimeNs>(look_at_ - clock_.now(), 0, kLookAgain);
}

void Supervisor::wait_for_something() {
  std::vector<pollfd> items = {{lifeline_.get(), POLLIN, 0}, {child_signal_.get(), POLLIN, 0}, {output_.waits_for(), POLLOUT, 0}};
  if (!output_.full()) {
    for (const Rank& rank : ranks_) {
      for (const Stream& stream : rank.streams) {
        if (stream.reader.open()) items.push_back({stream.reader.get(), POLLIN, 0});
      }
    }
  }
  const TimeNs limit = sleep_limit();
  const timespec time{limit / kSecond, limit % kSecond};
  ppoll(items.data(), items.size(), &time, nullptr);
}

void Supervisor::die_with_launcher() {
  kill_descendants();
  _exit(kSignalBase + SIGKILL);
}

void Supervisor::hear_lifeline() {
  for (;;) {
    pollfd item{lifeline_.get(), POLLIN, 0};
    if (poll(&item, 1, 0) <= 0) return;
    unsigned char word = 0;
    const ssize_t got = read(lifeline_.get(), &word, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) die_with_launcher();
    hear_signal(word & ~kFromTerminal, (word & kFromTerminal) != 0);
  }
}

void Supervisor::hear_signal(int signal, bool from_terminal) {
  if (signal == SIGUSR1 || signal == SIGUSR2) {
    for (const Rank& rank : ranks_) {
      if (rank.alive) kill(rank.pid, signal);  // not reaped yet, so the number is still its own
    }
    return;
  }
  user_ended_ = true;
  if (!failed_) exit_code_ = kSignalBase + signal;
  failed_ = true;
  if (phase_ == Phase::ending && clock_.now() - phase_since_ > kImpatientAfter) return become(Phase::killing);
  begin_ending(from_terminal ? 0 : signal);
}

void Supervisor::reap() {
  signalfd_siginfo unused;
  while (read(child_signal_.get(), &unused, sizeof unused) > 0) continue;
  int wait_status = 0;
  for (pid_t pid = 0; (pid = waitpid(-1, &wait_status, WNOHANG)) > 0;) {
    for (std::size_t index = 0; index < ranks_.size(); ++index) {
      if (ranks_[index].pid == pid && ranks_[index].alive) rank_ended(index, wait_status);
    }
  }
}

void Supervisor::rank_ended(std::size_t index, int wait_status) {
  Rank& rank = ranks_[index];
  rank.alive = false;
  --alive_;
  const int code = exit_code_of(wait_status);
  const bool explains = explains_failure(index, wait_status);
  if (code == 0 || (phase_ != Phase::running && !explains)) return;
  for (Stream& stream : rank.streams) {
    while (stream.reader.open() && read_stream(stream)) continue;  // its last words come before ours
  }
  const bool ends_all = phase_ == Phase::running && !options_.keep_going && alive_ > 0;
  say("rank " + std::to_string(index) + " (pid " + std::to_string(rank.pid) + ") " + end_text(wait_status) +
      (ends_all ? "; ending the other ranks" : ""));
  if (!failed_ || explains) {
    exit_code_ = code;
    blames_exit_ = WIFEXITED(wait_status) && !(explains && is_blamed(index));
    if (!failed_) ask_who_failed();
  }
  failed_ = true;
  if (!options_.keep_going) begin_ending(SIGTERM);
}

// Before the ranks that are left are told to end.
void Supervisor::ask_who_failed() {
  const std::lock_guard lock(shared_mutex_);
  if (blames_exit_ && segment_.open()) blamed_ = blamed_ranks(segment_.get(), options_.ranks, segment_settings_);
}

bool Supervisor::is_blamed(std::size_t index) const {
  return std::ranges::find(blamed_, static_cast<int>(index)) != blamed_.end();
}

// A rank that ends is seen to end only when its memory was given back; peers that notice its death at once may exit with
// an error before that. Then its signal, unless it is one of ours, or its own exit code is why they failed.
bool Supervisor::explains_failure(std::size_t index, int wait_status) const {
  const bool not_ours = phase_ == Phase::running || (phase_ == Phase::ending && WTERMSIG(wait_status) != SIGTERM);
  const bool by_signal = WIFSIGNALED(wait_status) && not_ours;
  const bool by_exit = WIFEXITED(wait_status) && is_blamed(index);
  return blames_exit_ && (by_signal || by_exit) && !user_ended_ && !lost_output_;
}

// True if there may be more to read.
bool Supervisor::read_stream(Stream& stream) {
  static thread_local std::array<char, 65536> buffer;
  if (output_.closed(stream.lines.target()) && output_.failure().empty()) {
    stream.reader.reset();  // our reader went away: the rank gets SIGPIPE, as it would without us
    return false;
  }
  const ssize_t got = read(stream.reader.get(), buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR;
  if (got == 0) {
    stream.lines.finish(output_);
    stream.reader.reset();
    return false;
  }
  stream.lines.feed({buffer.data(), static_cast<std::size_t>(got)}, output_);
  return true;
}

void Supervisor::read_streams() {
  for (Rank& rank : ranks_) {
    for (Stream& stream : rank.streams) {
      if (output_.full()) return;
      if (stream.reader.open()) read_stream(stream);
    }
  }
}

// Nobody of the family can write any more: what the pipes hold is all there is, even if a stranger keeps one open.
void Supervisor::drain() {
  for (Rank& rank : ranks_) {
    for (Stream& stream : rank.streams) {
      while (stream.reader.open() && !output_.full() && read_stream(stream)) continue;
      if (!stream.reader.open() || output_.full()) continue;
      stream.lines.finish(output_);
      stream.reader.reset();
    }
  }
}

void Supervisor::pass_on_warnings() {
  const std::lock_guard lock(shared_mutex_);
  for (const std::string& line : warnings_) say(line);
  warnings_.clear();
}

// A full disk, say: the job cannot do what it is for.
void Supervisor::note_lost_output() {
  if (output_.failure().empty() || lost_output_) return;
  lost_output_ = true;
  say("output was lost: " + output_.failure() + "; ending all ranks");
  if (!failed_) exit_code_ = 1;
  failed_ = true;
  begin_ending(SIGTERM);
}

void Supervisor::advance(TimeNs now) {
  if (phase_ == Phase::running && all_started() && alive_ == 0) {
    const int left = signal_descendants(SIGTERM);
    if (left == 0) return become(Phase::draining);
    say("ending " + std::to_string(left) + (left == 1 ? " process" : " processes") + " that the ranks left behind");
    become(Phase::ending);
  }
  if (now < look_at_) return;
  if (phase_ == Phase::ending || phase_ == Phase::killing) {
    if (alive_ == 0 && descendants().empty()) return become(Phase::draining);
    if (phase_ == Phase::ending && now - phase_since_ >= options_.grace_ns) become(Phase::killing);
    if (phase_ == Phase::killing) signal_descendants(SIGKILL);
    look_at_ = now + (phase_ == Phase::ending ? std::min(kLookAgain, options_.grace_ns) : kKillAgain);
    if (phase_ == Phase::killing && now - phase_since_ > kKillWithin) {
      say("some processes cannot be killed (they hang in the kernel); leaving them");
      return become(Phase::draining);
    }
  }
  if (phase_ == Phase::draining) {
    drain();
    const bool reader_hangs = user_ended_ && now - phase_since_ > kLastWordsWithin;
    const bool all_read = std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) {
      return !rank.streams[0].reader.open() && !rank.streams[1].reader.open();
    });
    if ((all_read && output_.empty()) || reader_hangs) become(Phase::done);
    look_at_ = now + kLookAgain;
  }
}

int Supervisor::run() {
  if (Status status = prepare(); !status.ok()) {
    say(std::string(status.trail()));
    output_.flush_some();
    return 1;
  }
  while (phase_ != Phase::done) {
    if (phase_ == Phase::running && !all_started()) start_next();
    wait_for_something();
    hear_lifeline();
    reap();
    read_streams();
    pass_on_warnings();
    output_.flush_some();
    note_lost_output();
    advance(clock_.now());
  }
  return exit_code_;
}

}  // namespace

int supervise(const JobOptions& options, const StartPlan& plan, Descriptor lifeline) {
  return Supervisor(options, plan, std::move(lifeline)).run();
}

}  // namespace hcomm
