// Goal: whoever lacks the secret neither gets into a job over TCP nor disturbs it, whatever it sends.
// Method: four ranks as threads run collectives, over connections that are made on first use, while another thread keeps hundreds
//         of connections of strangers at each rank's door.
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <deque>
#include <fstream>
#include <thread>

#include "net/kernel_network.h"
#include "net/mac.h"
#include "net/sockets.h"
#include "oracle.h"
#include "transport/mesh.h"
#include "world.h"

namespace hcomm::testing {
namespace {

constexpr int kRanks = 4;
constexpr std::size_t kMostAtADoor = 160;  // more than an acceptor looks at at once

struct Job {
  Secret secret{};
  std::vector<SharedHub> hubs;
  std::vector<std::vector<Address>> at;  // [rank]
};

Job open_job() {
  Job job;
  fill_with_random(job.secret);
  for (int rank = 0; rank < kRanks; ++rank) {
    job.hubs.push_back(std::make_shared<Hub>(HubOptions{.secret = job.secret,
                                                        .rank = rank,
                                                        .ranks = kRanks,
                                                        .network = KernelNetwork::open().value(),
                                                        .bell = {},
                                                        .in_child = {}}));
    job.at.push_back({job.hubs.back()->listen(parse_address("127.0.0.1:0").value()).value()});
  }
  for (const SharedHub& hub : job.hubs) hub->set_peers(job.at);
  return job;
}

std::vector<std::unique_ptr<Communicator>> make_communicators(const Job& job, const std::string& algorithm,
                                                              std::uint32_t context) {
  std::vector<std::unique_ptr<Communicator>> made;
  std::vector<Communicator*> all;
  for (int rank = 0; rank < kRanks; ++rank) {
    Settings settings;
    settings.algo = algorithm;
    settings.timeout_ns = 60 * kSecond;
    made.push_back(std::make_unique<Communicator>(
        Membership{.rank = rank,
                   .ranks = kRanks,
                   .settings = settings,
                   .transport = open_mesh({.rank = rank,
                                           .ranks = kRanks,
                                           .context = context,
                                           .hub = job.hubs[static_cast<std::size_t>(rank)],
                                           .local = {},
                                           .here = std::vector<bool>(kRanks, false),
                                           .pids = std::vector<int>(kRanks, getpid())}),
                   .transport_name = "tcp"}));
    all.push_back(made.back().get());
    require(all.back()->begin_agreement());
  }
  require(wait_for(all));
  for (Communicator* const each : all) require(each->finish_agreement());
  return made;
}

// ---- strangers

struct Script {
  std::vector<std::byte> says;
  std::size_t pace = SIZE_MAX;  // bytes at a time
  bool half_closes = false;     // behind it
};

// What the initiator of a right connection between these two once said.
std::vector<std::byte> recorded(const Secret& secret, const Claim& claim) {
  Handshake initiator = Handshake::initiator(secret, claim);
  Handshake acceptor = Handshake::acceptor(secret);
  std::vector<std::byte> all;
  while (acceptor.state() == Handshake::State::running) {
    const ConstBytes heard = initiator.outgoing().first(std::min(initiator.outgoing().size(), acceptor.wants()));
    all.insert(all.end(), heard.begin(), heard.end());
    acceptor.receive(heard);
    initiator.sent(heard.size());
    const ConstBytes answer = acceptor.outgoing().first(std::min(acceptor.outgoing().size(), initiator.wants()));
    initiator.receive(answer);
    acceptor.sent(answer.size());
  }
  REQUIRE(acceptor.state() == Handshake::State::asks);
  return all;
}

std::vector<Script> scripts_for(const Secret& secret, int rank) {
  const std::vector<std::byte> whole =
      recorded(secret, {.purpose = Purpose::link, .from = (rank + 1) % kRanks, .to = rank});
  const auto first = [&](std::ptrdiff_t bytes) { return std::vector<std::byte>(whole.begin(), whole.begin() + bytes); };
  constexpr std::ptrdiff_t hello = 72;
  std::vector<std::byte> wrong_code = whole;
  wrong_code.back() ^= std::byte{1};
  std::vector<std::byte> lengths = first(hello);
  lengths.resize(whole.size() + 4096, std::byte{0xff});
  return {
      {.says = std::vector<std::byte>(1000, std::byte{0xab})},
      {.says = whole},
      {.says = wrong_code},
      {.says = whole, .pace = 1},
      {.says = lengths},
      {.says = first(hello), .half_closes = true},
      {.says = first(30), .half_closes = true},
      {.says = {}},
      {.says = {}, .half_closes = true},
  };
}

class Stranger {
 public:
  Stranger(const Address& door, Script script) : script_(std::move(script)), socket_(make_tcp_socket(door.family).value()) {
    const SystemAddress at = to_system(door);
    static_cast<void>(connect(socket_.get(), at.get(), at.bytes));  // goes on by itself
  }

  // Says what can be said, and hears what has come. False: the other end has closed.
  bool turn() {
    if (said_ < script_.says.size()) {
      const std::size_t bytes = std::min(script_.pace, script_.says.size() - said_);
      const ssize_t sent = send(socket_.get(), script_.says.data() + said_, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
      said_ += sent > 0 ? static_cast<std::size_t>(sent) : 0;
    } else if (script_.half_closes && shutdown(socket_.get(), SHUT_WR) == 0) {
      script_.half_closes = false;
    }
    std::array<std::byte, 512> piece;
    const ssize_t got = recv(socket_.get(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (got > 0) heard_.insert(heard_.end(), piece.begin(), piece.begin() + got);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOTCONN));
  }

  // The verdict comes behind the challenge: kind, refusal, ...
  bool was_let_in() const {
    constexpr std::size_t kChallenge = 72;
    return heard_.size() > kChallenge + 1 && heard_[kChallenge + 1] == std::byte{0};
  }
  bool was_challenged() const { return !heard_.empty(); }

 private:
  Script script_;
  Descriptor socket_;
  std::size_t said_ = 0;
  std::vector<std::byte> heard_;
};

// Strangers at all doors, from a thread of its own, until it dies.
class Flood {
 public:
  explicit Flood(const Job& job) : job_(job), crowds_(kRanks) {
    for (int rank = 0; rank < kRanks; ++rank) scripts_.push_back(scripts_for(job.secret, rank));
    thread_ = std::thread([this] {
      while (!stops_.load()) round();
    });
  }
  ~Flood() {
    stops_.store(true);
    if (thread_.joinable()) thread_.join();
  }

  int rounds() const { return rounds_.load(); }
  int challenged() const { return challenged_.load(); }
  int let_in() const { return let_in_.load(); }

 private:
  // A few more at each door than there are, and the oldest go.
  void round() {
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      std::deque<Stranger>& crowd = crowds_[rank];
      const std::size_t least = rounds_.load() == 0 ? kMostAtADoor : scripts_[rank].size();
      for (std::size_t i = 0; i < least; ++i) crowd.emplace_back(job_.at[rank][0], scripts_[rank][i % scripts_[rank].size()]);
      std::erase_if(crowd, [&](Stranger& each) {
        const bool stays = each.turn();
        challenged_ += each.was_challenged() ? 1 : 0;
        let_in_ += each.was_let_in() ? 1 : 0;
        return !stays;
      });
      while (crowd.size() > kMostAtADoor) crowd.pop_front();
    }
    ++rounds_;
    poll(nullptr, 0, 2);
  }

  const Job& job_;
  std::vector<std::vector<Script>> scripts_;    // [rank]
  std::vector<std::deque<Stranger>> crowds_;    // [rank]; the thread's own
  std::atomic<int> rounds_{0};
  std::atomic<int> challenged_{0};
  std::atomic<int> let_in_{0};
  std::atomic<bool> stops_{false};
  std::thread thread_;
};

// ---- the job

void run_calls(Communicator& rank, int calls) {
  for (int number = 0; number < calls; ++number) {
    CollectiveCall call{.collective = kCollectives[static_cast<std::size_t>(number) % kCollectives.size()],
                        .count = static_cast<std::size_t>(number % 4 == 3 ? 20000 : 100 + number),
                        .dtype = hcommFloat32};
    if (call.collective == Collective::barrier) call = {.collective = Collective::barrier};
    if (reduces(call.collective)) call.op = hcommSum;
    if (has_root(call.collective)) call.root = number % kRanks;
    set_salt(static_cast<std::uint64_t>(number) + 1);
    const std::vector<std::byte> input = make_input(call, rank.rank(), kRanks);
    const std::vector<std::byte> expected = expected_output(call, rank.rank(), kRanks);
    std::vector<std::byte> output(expected.size());
    call.send = input.empty() ? nullptr : input.data();
    call.recv = output.empty() ? nullptr : output.data();
    require(rank.run(call));
    if (output != expected) throw std::runtime_error("a wrong result of call " + std::to_string(number));
  }
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t size = 0;
  std::size_t resident = 0;
  file >> size >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

struct MoreDescriptors {
  MoreDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before);
    rlimit more = before;
    more.rlim_cur = std::min<rlim_t>(before.rlim_max, 4096);
    REQUIRE(more.rlim_cur >= 2 * kRanks * kMostAtADoor + 200);
    setrlimit(RLIMIT_NOFILE, &more);
  }
  ~MoreDescriptors() { setrlimit(RLIMIT_NOFILE, &before); }

  rlimit before{};
};

}  // namespace

TEST_CASE("strangers at every door of a job get in nowhere, and its results are exact") {
  const MoreDescriptors descriptors;
  const Job job = open_job();
  const std::size_t before = resident_bytes();
  Flood flood(job);
  while (flood.rounds() == 0) poll(nullptr, 0, 1);
  std::uint32_t context = 0;
  while (context < 3 || (flood.rounds() < 30 && context < 100)) {  // each makes, and ends, what it needs of connections
    const std::string algorithm = context % 2 == 0 ? "ring" : "recursive_doubling";
    const auto world = make_communicators(job, algorithm, context++);
    run_ranks(world, [](Communicator& rank) { run_calls(rank, 24); });
  }
  CHECK(flood.challenged() > 0);
  CHECK(flood.let_in() == 0);
  CHECK(resident_bytes() < before + (std::size_t{64} << 20));
}

}  // namespace hcomm::testing
