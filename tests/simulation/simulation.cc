#include "simulation.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>

#include "comm/communicator.h"
#include "../comm/oracle.h"
#include "sim_meeting.h"
#include "transport/mesh.h"

namespace hcomm::simulation {
namespace {

constexpr TimeNs kEnd = 400 * kSecond;  // of the world: far beyond every timeout

[[noreturn]] void complain(const std::string& what) { throw std::runtime_error(what); }

// One rank's program, moved on by turn().
class Rank {
 public:
  Rank(World& world, Internet& internet, const Scenario& scenario, int rank)
      : scenario_(scenario), rank_(rank), clock_(world.clock()) {
    auto network = internet.join(rank);
    network_ = network.get();
    hub_ = std::make_shared<Hub>(HubOptions{
        .rank = rank, .ranks = scenario.ranks, .network = std::move(network), .bell = {}, .in_child = {}});
    const Result<Address> at = hub_->listen(Internet::address_of(rank));
    if (!at.ok()) complain("rank " + std::to_string(rank) + " cannot listen");
    address_ = at.value();
  }

  Address address() const { return address_; }
  void vanish() { ended_ = true; }
  bool has_ended() const { return ended_; }
  bool has_failed() const { return failed_; }
  bool failed_in_meeting() const { return failed_in_meeting_; }
  const std::string& failure() const { return failure_; }
  const std::optional<Verdict>& verdict() const { return verdict_; }
  std::size_t calls_done() const { return next_; }

  void begin(const std::vector<std::vector<Address>>& all) {
    hub_->set_peers(all);
    std::vector<int> pids;
    for (int peer = 0; peer < scenario_.ranks; ++peer) pids.push_back(1000 + peer);
    auto mesh = open_mesh(
        {.rank = rank_, .ranks = scenario_.ranks, .context = 0, .hub = hub_, .local = {}, .here = {}, .pids = pids});
    transport_ = mesh.get();
    Settings settings;
    settings.algo = scenario_.algorithm;
    settings.timeout_ns = 60 * kSecond;
    settings.connect_timeout_ns = 60 * kSecond;
    settings.peer_timeout_ns = 30 * kSecond;
    comm_ = std::make_unique<Communicator>(Membership{.rank = rank_,
                                                      .ranks = scenario_.ranks,
                                                      .settings = settings,
                                                      .transport = std::move(mesh),
                                                      .transport_name = "tcp",
                                                      .clock = &clock_});
    check(comm_->begin_agreement());
    check(comm_->reserve());
  }

  void join(Internet& internet, const JobId& id, Absent server) {
    joining_ = std::make_unique<SimJoining>(internet, id, rank_, scenario_.ranks, server, address_);
  }

  // Whether a turn may find something to do: news, a next call, or a look at the clock that is due.
  bool is_due() const {
    const bool starts_late = scenario_.meets && clock_.now() < scenario_.starts_at[static_cast<std::size_t>(rank_)];
    if (ended_ || inside_ || starts_late) return false;
    if (joining_ != nullptr) return joining_->is_due();
    return comm_ != nullptr && (has_more_ || network_->has_events() || clock_.now() >= looked_at_ + kIdleStep);
  }

  // Does what can be done now.
  void turn() {
    inside_ = true;
    has_more_ = false;
    looked_at_ = clock_.now();
    joining_ != nullptr ? go_on_joining() : turn_once();
    inside_ = false;
  }

 private:
  void go_on_joining() {
    std::optional<Result<Meeting>> ended = joining_->turn();
    if (!ended.has_value()) return;
    joining_.reset();
    if (!ended->ok()) {
      failed_in_meeting_ = true;
      return fail(ended->status());
    }
    std::vector<std::vector<Address>> addresses;
    for (const Member& member : ended->value().members) addresses.push_back(member.facts.addresses);
    begin(addresses);
  }

  void turn_once() {
    const Result<bool> done = comm_->nudge();
    if (!done.ok()) return fail(done.status());
    if (!done.value()) return;
    has_more_ = true;
    if (!agreed_) {
      agreed_ = true;
      check(comm_->finish_agreement());
    } else if (current_ != nullptr) {
      compare();
      ++next_;
      current_ = nullptr;
    }
    next_call();
  }

  // Like the end of a program.
  void leave() {
    if (transport_ != nullptr) verdict_ = transport_->board().verdict();
    comm_.reset();
    hub_.reset();
    network_ = nullptr;
    ended_ = true;
  }

  void check(const Status& status) {
    if (!status.ok() && !failed_) complain("rank " + std::to_string(rank_) + ": " + std::string(status.trail()));
  }

  void fail(const Status& why) {
    failed_ = true;
    failure_ = std::string(why.trail());
    leave();
  }

  void next_call() {
    const auto& program = scenario_.calls[static_cast<std::size_t>(rank_)];
    if (next_ == program.size()) return leave();
    call_ = program[next_];
    testing::set_salt(next_ + 1);
    input_ = testing::make_input(call_, rank_, scenario_.ranks);
    expected_ = testing::expected_output(call_, rank_, scenario_.ranks);
    output_.assign(expected_.size() + 1, std::byte{0x5a});
    call_.send = input_.empty() ? nullptr : input_.data();
    call_.recv = output_.data();
    if (Status status = comm_->check(call_); !status.ok()) return fail(status);
    if (Status status = comm_->prepare(call_); !status.ok()) return fail(status);
    comm_->queue(call_);
    current_ = &call_;
  }

  void compare() const {
    if (!std::equal(expected_.begin(), expected_.end(), output_.begin()) || output_.back() != std::byte{0x5a}) {
      complain("rank " + std::to_string(rank_) + ": call " + std::to_string(next_) + " (" + std::string(name(call_.collective)) +
               ", count " + std::to_string(call_.count) + ") succeeded with a wrong result");
    }
  }

  const Scenario& scenario_;
  const int rank_;
  const Clock& clock_;
  SimNetwork* network_ = nullptr;  // of the hub
  std::shared_ptr<Hub> hub_;
  Address address_;
  Transport* transport_ = nullptr;  // of the communicator
  std::unique_ptr<SimJoining> joining_;  // until it has met
  std::unique_ptr<Communicator> comm_;   // then

  bool failed_in_meeting_ = false;
  bool agreed_ = false;
  std::size_t next_ = 0;
  CollectiveCall call_;
  const CollectiveCall* current_ = nullptr;
  std::vector<std::byte> input_, expected_, output_;
  bool ended_ = false;
  bool inside_ = false;    // in the middle of a turn
  bool has_more_ = true;   // nothing need happen for the next turn
  TimeNs looked_at_ = 0;
  bool failed_ = false;
  std::string failure_;
  std::optional<Verdict> verdict_;
};

// The whole run.
class Run {
 public:
  explicit Run(const Scenario& scenario)
      : scenario_(scenario), world_(scenario.seed ^ 0x9e3779b97f4a7c15u), internet_(world_, scenario.weather) {
    std::vector<std::vector<Address>> addresses;
    for (int rank = 0; rank < scenario.ranks; ++rank) {
      ranks_.push_back(std::make_unique<Rank>(world_, internet_, scenario, rank));
      addresses.push_back({ranks_.back()->address()});
    }
    if (scenario.meets) {
      serve();
    } else {
      for (const auto& rank : ranks_) rank->begin(addresses);
    }
    internet_.meanwhile = [this] { return turn_all(); };
    plan_mishap();
  }

  ~Run() { internet_.meanwhile = nullptr; }  // ranks that end wait for nobody

  Report report() {
    while (!all_ended()) {
      if (!finding_.empty()) complain(finding_);
      if (world_.now() > kEnd) complain("no end: " + who_is_left());
      if (turn_all()) continue;
      if (!world_.step(world_.now() + kIdleStep)) world_.run_until(world_.now() + kIdleStep);
    }
    if (!finding_.empty()) complain(finding_);
    check_meeting();
    check_voices();
    Report report{.finding = {}, .virtual_ns = world_.now()};
    for (const auto& rank : ranks_) {
      report.failed_ranks += rank->has_failed() ? 1 : 0;
      report.calls += rank->calls_done();
    }
    const bool must_succeed = scenario_.mishap == Mishap::none || scenario_.mishap == Mishap::pause;
    for (const auto& rank : ranks_) {
      if (must_succeed && rank->has_failed()) complain("a failure without a reason: " + rank->failure());
    }
    internet_.meanwhile = nullptr;
    ranks_.clear();
    server_.reset();
    world_.run_until(world_.now() + 10 * kSecond);
    if (internet_.open_streams() != 0) complain(std::to_string(internet_.open_streams()) + " sockets are left open");
    if (internet_.open_listeners() != 0) complain(std::to_string(internet_.open_listeners()) + " listeners are left open");
    return report;
  }

 private:
  bool is_out(int rank) const { return rank == crashed_ || (rank == scenario_.victim && world_.now() < paused_until_); }

  int server_node() const { return scenario_.is_served_apart ? scenario_.ranks : 0; }

  // All come to the meeting, but for one who is absent.
  void serve() {
    const int absent = scenario_.mishap == Mishap::absent ? scenario_.victim : -1;
    const JobId id = job_at(server_node());
    if (server_node() != absent) server_ = std::make_unique<SimServer>(internet_, server_node(), id, scenario_.ranks);
    const Absent server = scenario_.is_served_apart ? Absent::is_an_error : Absent::may_come;
    for (int rank = 0; rank < scenario_.ranks; ++rank) {
      Rank& each = *ranks_[static_cast<std::size_t>(rank)];
      rank == absent ? each.vanish() : each.join(internet_, id, server);
    }
  }

  bool all_ended() const {
    return std::ranges::all_of(ranks_, [](const auto& rank) { return rank->has_ended(); });
  }

  void plan_mishap() {
    switch (scenario_.mishap) {
      case Mishap::none:
      case Mishap::mismatch:
      case Mishap::absent:
        return;
      case Mishap::crash:
        return world_.plan(scenario_.at, [this] {
          if (ranks_.empty()) return;  // all have left already
          crashed_ = scenario_.victim;
          internet_.crash(crashed_);
          if (crashed_ == server_node()) server_.reset();
          ranks_[static_cast<std::size_t>(crashed_)]->vanish();
        });
      case Mishap::cut:
        return world_.plan(scenario_.at, [this] { cut(); });
      case Mishap::pause:
        return world_.plan(scenario_.at, [this] { paused_until_ = world_.now() + scenario_.pause; });
    }
  }

  // As soon as there is something to cut.
  void cut() {
    if (ranks_.empty() || internet_.cut(scenario_.victim, scenario_.other)) return;
    world_.plan(world_.now() + kIdleStep, [this] { cut(); });
  }

  // All that are due have a turn, from a random one on; some must wait for the next round. False: nobody is due.
  bool turn_all() {
    const std::size_t start = world_.random.below(ranks_.size());
    bool was_due = server_ != nullptr && !is_out(server_node()) && server_->is_due();
    if (was_due) server_->turn();
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const std::size_t which = (start + i) % ranks_.size();
      if (is_out(static_cast<int>(which)) || !ranks_[which]->is_due()) continue;
      was_due = true;
      if (world_.random.below(4) != 0) let_turn(*ranks_[which]);
    }
    return was_due;
  }

  // A finding is told by report(): here the turn may be within the destructor of another rank's hub.
  void let_turn(Rank& rank) {
    try {
      rank.turn();
    } catch (const std::exception& error) {
      if (finding_.empty()) finding_ = error.what();
    }
  }

  std::string who_is_left() const {
    std::string text;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (ranks_[rank]->has_ended()) continue;
      text += " rank " + std::to_string(rank) + " in call " + std::to_string(ranks_[rank]->calls_done());
    }
    return text;
  }

  // Who fails in the meeting says whom it missed, unless it lost what serves the meeting.
  void check_meeting() const {
    const std::string victim = std::to_string(scenario_.victim);
    const bool lost_server = server_node() == scenario_.victim;
    for (const auto& rank : ranks_) {
      if (!rank->failed_in_meeting()) continue;
      const auto says = [&](const std::string& words) { return rank->failure().find(words) != std::string::npos; };
      const bool names = says("rank " + victim + " (pid ") || says("missing: " + victim);
      switch (scenario_.mishap) {
        case Mishap::none:
        case Mishap::mismatch:
        case Mishap::pause:
          complain("a meeting failed without a reason: " + rank->failure());
        case Mishap::cut:
          break;
        case Mishap::crash:
          if (!names && !lost_server) complain("the crashed rank is not named: " + rank->failure());
          break;
        case Mishap::absent:
          if (!names && !(lost_server && says("rank 0, which serves the meeting"))) {
            complain("the absent rank is not named: " + rank->failure());
          }
          break;
      }
    }
  }

  // Of those that met, when all did: who did not has ended, too, and may be taken for the one that died.
  void check_voices() const {
    if (scenario_.mishap != Mishap::crash) return;
    if (std::ranges::any_of(ranks_, [](const auto& rank) { return rank->failed_in_meeting(); })) return;
    for (const auto& rank : ranks_) {
      if (!rank->has_failed()) continue;
      if (!rank->verdict().has_value()) complain("a failure without a verdict: " + rank->failure());
      if (rank->verdict()->culprit != scenario_.victim) complain("another one is blamed: " + rank->failure());
    }
  }

  const Scenario& scenario_;
  World world_;
  Internet internet_;
  std::unique_ptr<SimServer> server_;  // null: there is none any more
  std::vector<std::unique_ptr<Rank>> ranks_;
  int crashed_ = -1;
  std::string finding_;  // the first
  TimeNs paused_until_ = 0;
};

}  // namespace

Report run(const Scenario& scenario) {
  try {
    return Run(scenario).report();
  } catch (const std::exception& error) {
    return {.finding = error.what()};
  }
}

}  // namespace hcomm::simulation
