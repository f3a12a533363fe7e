#include "team.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/random.h"
#include "net/kernel_network.h"
#include "net/mac.h"
#include "transport/loopback.h"
#include "transport/mesh.h"
#include "transport/shm.h"

namespace hcomm::test {
namespace {

std::unique_ptr<Transport> with_faults(std::unique_ptr<Transport> transport, const TeamSpec& spec, int rank) {
  return make_faulty(std::move(transport), spec.faults, spec.seed * 1000 + static_cast<std::uint64_t>(rank));
}

std::unique_ptr<ShmTransport> open_rank(const TeamSpec& spec, int segment_fd, int rank, int context = 0,
                                        std::vector<bool> here = {}) {
  auto transport = open_shm({.segment_fd = segment_fd,
                             .context = context,
                             .rank = rank,
                             .ranks = spec.ranks,
                             .slots = spec.slots,
                             .slot_bytes = spec.slot_bytes,
                             .ring_bytes = spec.ring_bytes,
                             .here = std::move(here)});
  expect(transport.ok(), transport.status().trail());
  return std::move(transport).value();
}

int make_segment(const TeamSpec& spec, int contexts = 1) {
  auto fd = create_segment(shm_segment_bytes(spec.ranks, spec.slots, spec.slot_bytes, spec.ring_bytes, contexts));
  expect(fd.ok(), fd.status().trail());
  return fd.value();
}

// Of the rank that this thread or process is.
struct OwnPlace {
  int rank = 0;
  int ranks = 0;
};
thread_local OwnPlace own_place;

std::string guarded(const std::function<void()>& body) {
  try {
    body();
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::string collect(const std::vector<std::string>& errors) {
  std::string all;
  for (std::size_t rank = 0; rank < errors.size(); ++rank) {
    if (!errors[rank].empty()) all += "rank " + std::to_string(rank) + ": " + errors[rank] + "\n";
  }
  return all;
}

std::string run_threads(const TeamSpec& spec, const Body& body) {
  const auto count = static_cast<std::size_t>(spec.ranks);
  auto transports = open_all(spec);
  std::vector<std::string> errors(count);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < spec.ranks; ++rank) {
    threads.emplace_back([&, rank] {
      own_place = {rank, spec.ranks};
      const auto index = static_cast<std::size_t>(rank);
      const auto transport = with_faults(std::move(transports[index]), spec, rank);
      errors[index] = guarded([&] { body(*transport, rank); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  return collect(errors);
}

[[noreturn]] void be_child(const TeamSpec& spec, const Body& body, int segment_fd, int rank, int report_fd) {
  const std::string error = guarded([&] {
    const auto transport = with_faults(open_rank(spec, segment_fd, rank), spec, rank);
    body(*transport, rank);
  });
  [[maybe_unused]] const auto written = write(report_fd, error.data(), error.size());
  _exit(0);
}

std::string read_all(int fd) {
  std::string text;
  char buffer[512];
  for (ssize_t got = read(fd, buffer, sizeof buffer); got > 0; got = read(fd, buffer, sizeof buffer)) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

std::string run_processes(const TeamSpec& spec, const Body& body) {
  const int segment_fd = make_segment(spec);
  std::vector<std::string> errors;
  std::vector<pid_t> children;
  std::vector<int> reports;
  for (int rank = 0; rank < spec.ranks; ++rank) {
    int ends[2];
    expect(pipe(ends) == 0, "no pipe");
    const pid_t child = fork();
    expect(child >= 0, "no child");
    if (child == 0) be_child(spec, body, segment_fd, rank, ends[1]);
    close(ends[1]);
    children.push_back(child);
    reports.push_back(ends[0]);
  }
  for (std::size_t rank = 0; rank < children.size(); ++rank) {
    std::string error = read_all(reports[rank]);
    close(reports[rank]);
    int status = 0;
    waitpid(children[rank], &status, 0);
    if (WIFSIGNALED(status)) error += "signal " + std::to_string(WTERMSIG(status));
    errors.push_back(std::move(error));
  }
  close(segment_fd);
  return collect(errors);
}

}  // namespace

std::shared_ptr<Hub> open_hub(const Secret& secret, int rank, int ranks, Address& at) {
  auto network = KernelNetwork::open();
  expect(network.ok(), network.status().trail());
  auto bell = BellSocket::open(*network.value());
  expect(bell.ok(), bell.status().trail());
  auto hub = std::make_shared<Hub>(HubOptions{.secret = secret,
                                              .rank = rank,
                                              .ranks = ranks,
                                              .network = std::move(network).value(),
                                              .bell = std::move(bell).value(),
                                              .in_child = {}});
  const auto place = hub->listen(at);
  expect(place.ok(), place.status().trail());
  at = place.value();
  return hub;
}

std::vector<std::shared_ptr<Hub>> open_hubs(int ranks) {
  Secret secret{};
  fill_with_random(secret);
  std::vector<std::shared_ptr<Hub>> hubs;
  std::vector<std::vector<Address>> all;
  for (int rank = 0; rank < ranks; ++rank) {
    Address at = parse_address("127.0.0.1:0").value();
    hubs.push_back(open_hub(secret, rank, ranks, at));
    all.push_back({at});
  }
  for (const auto& hub : hubs) hub->set_peers(all);
  return hubs;
}

namespace {

std::vector<std::unique_ptr<Transport>> open_meshes(const TeamSpec& spec) {
  const auto hubs = open_hubs(spec.ranks);
  const int fd = spec.kind == Kind::mixed ? make_segment(spec, 2) : -1;
  std::vector<std::unique_ptr<Transport>> transports;
  for (int rank = 0; rank < spec.ranks; ++rank) {
    const auto half = [&](int of) { return of < (spec.ranks + 1) / 2 ? 0 : 1; };
    std::vector<bool> here;
    for (int peer = 0; peer < spec.ranks; ++peer) here.push_back(peer == rank || (fd >= 0 && half(peer) == half(rank)));
    const bool alone = std::count(here.begin(), here.end(), true) == 1;
    transports.push_back(open_mesh({.rank = rank,
                                    .ranks = spec.ranks,
                                    .context = 3,
                                    .hub = hubs[static_cast<std::size_t>(rank)],
                                    .local = alone ? nullptr : open_rank(spec, fd, rank, half(rank), here),
                                    .here = here,
                                    .pids = std::vector<int>(here.size(), getpid())}));
  }
  if (fd >= 0) close(fd);
  return transports;
}

}  // namespace

std::vector<std::unique_ptr<Transport>> open_all(const TeamSpec& spec) {
  if (!has_window(spec.kind)) return open_meshes(spec);
  if (spec.kind == Kind::loopback) {
    auto opened = open_loopback({.ranks = spec.ranks, .slots = spec.slots, .slot_bytes = spec.slot_bytes});
    expect(opened.ok(), opened.status().trail());
    return std::move(opened).value();
  }
  std::vector<std::unique_ptr<Transport>> transports;
  const int fd = make_segment(spec);
  for (int rank = 0; rank < spec.ranks; ++rank) transports.push_back(open_rank(spec, fd, rank));
  close(fd);
  return transports;
}

std::string_view name(Kind kind) {
  switch (kind) {
    case Kind::loopback:      return "loopback";
    case Kind::shm_threads:   return "shm, ranks as threads";
    case Kind::shm_processes: return "shm, ranks as processes";
    case Kind::tcp:           return "tcp";
    case Kind::mixed:         return "shm in each half, tcp between them";
  }
  unreachable();
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void expect(bool condition, std::string_view what) {
  if (!condition) throw std::runtime_error(std::string(what));
}

void turn_until(Transport& transport, const std::function<bool()>& done) {
  const MonotonicClock clock;
  const TimeNs end = clock.now() + 20 * kSecond;
  while (!done()) {
    if (transport.poll() > 0) continue;
    expect(clock.now() < end, "nothing more came within 20 s");
    transport.arm();
    if (transport.poll() > 0 || done()) {
      transport.disarm();
    } else {
      transport.sleep(kSecond);
    }
  }
}

void wait_for(Transport& transport, const Completion& completion) {
  turn_until(transport, [&] { return completion.finished; });
  expect(completion.status.ok(), completion.status.trail());
}

std::vector<std::byte> pattern(std::size_t bytes, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::byte> data(bytes);
  for (std::byte& byte : data) byte = static_cast<std::byte>(random.next());
  return data;
}

void send(Transport& transport, int peer, Lane lane, const std::vector<std::byte>& message, Completion& completion) {
  const ConstBytes part(message);
  transport.channel(peer, lane).send({&part, 1}, 0, completion);
}

void recv(Transport& transport, int peer, Lane lane, std::vector<std::byte>& message, Completion& completion) {
  const Bytes part(message);
  transport.channel(peer, lane).recv({&part, 1}, 0, completion);
}

namespace {

void meet_by_messages(Transport& transport, int rank, int ranks) {
  std::vector<Completion> ends(static_cast<std::size_t>(2 * ranks));
  const auto at = [&](int index) -> Completion& { return ends[static_cast<std::size_t>(index)]; };
  for (int peer = 0; peer < ranks; ++peer) {
    if (peer == rank) continue;
    transport.channel(peer, Lane::control).send({}, 1000, at(2 * peer));
    transport.channel(peer, Lane::control).recv({}, 1000, at(2 * peer + 1));
  }
  for (int peer = 0; peer < ranks; ++peer) {
    if (peer == rank) continue;
    wait_for(transport, at(2 * peer));
    wait_for(transport, at(2 * peer + 1));
  }
}

}  // namespace

void meet(Transport& transport, std::uint64_t meeting) {
  if (transport.window() == nullptr) return meet_by_messages(transport, own_place.rank, own_place.ranks);
  Window& window = *transport.window();
  window.steps[window.self].step.store(meeting, std::memory_order_seq_cst);
  for (int peer = 0; peer < window.ranks; ++peer) ring(window, peer);
  turn_until(transport, [&] {
    for (int peer = 0; peer < window.ranks; ++peer) {
      if (window.steps[peer].step.load(std::memory_order_seq_cst) < meeting) return false;
    }
    return true;
  });
}

std::string run_team(const TeamSpec& spec, const Body& body) {
  return spec.kind == Kind::shm_processes ? run_processes(spec, body) : run_threads(spec, body);
}

}  // namespace hcomm::test
