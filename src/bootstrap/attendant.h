// A rank's side of a meeting, one step at a time: comes to the coordinator, waits, asks who is awaited, gives up at its deadline;
// in a meeting of several hosts it fetches the table of members and hands it on (route.h). Nothing blocks. One thread.
//
// What ranks of one host do among themselves is the caller's part: from wants_share() on it brings the segment and, to all but
// the leader, the table, by share(), or fails by cannot_share().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "bootstrap/approach.h"
#include "bootstrap/handout.h"
#include "bootstrap/join.h"
#include "bootstrap/message.h"
#include "net/dialer.h"

namespace hcomm {

class Attendant final : private Watcher {
 public:
  // `sockets` is null where there are no Unix sockets. Network and options outlive it. With table_ranks the table that comes is
  // one of another meeting, of so many ranks, and the caller's to read.
  Attendant(Network& network, KernelNetwork* sockets, const JobId& id, const JoinOptions& options, int table_ranks = 0);

  void step();
  TimeNs next_deadline() const;  // for the next step, if nothing happens
  bool ended() const { return stage_ == Stage::ended; }
  // Of one that has ended.
  Result<Meeting> take();

  // This rank shares its host with others and can go no further alone.
  bool wants_share() const;
  const Route& route() const { return *route_; }
  std::uint64_t context() const { return meeting_.context; }
  ConstBytes table() const { return table_; }
  void share(Descriptor segment, std::vector<std::byte> table);
  void cannot_share(const Status& why);

 private:
  void ready() override {}  // step() sees what has become of the dialer

  enum class Stage : std::uint8_t {
    coming,    // to the coordinator
    waiting,   // for the others to come
    fetching,  // table and segment, and handing on
    settling,  // for the others to have them, too
    leaving,   // gave up, or failed; the coordinator has the last word
    ended,
  };

  void come(TimeNs now);
  void come_again(Status why, TimeNs now);
  void greet(TimeNs now);
  void lose_coordinator(TimeNs now);
  void listen_to_coordinator(TimeNs now);
  void hear(Packet& packet, TimeNs now);
  void hear_answer(Packet& packet, const Answer& answer, TimeNs now);
  void enter(Packet& packet, TimeNs now);
  void take_route(Packet& packet, const Route& route, TimeNs now);
  void take_table(ConstBytes message, TimeNs now);
  Status read_members();
  void dial_source();
  void fetch_from_rank(TimeNs now);
  void settle_if_ready();
  void give_up(const Ask& last_word, Status own_word, TimeNs now);
  void give_up_because(const Status& why, TimeNs now);
  void keep_time(TimeNs now);
  void tell(std::string_view news, TimeNs now) const;
  std::string whom_it_seeks() const;
  void end(Status why);

  Network& network_;
  const JobId id_;
  const JoinOptions& options_;
  Facts self_;
  Approach approach_;
  bool has_arrived_ = false;       // as the coordinator said
  const int table_ranks_;
  const TimeNs start_;
  const TimeNs deadline_;
  Stage stage_ = Stage::coming;
  TimeNs come_at_ = 0;
  TimeNs ask_at_;
  TimeNs last_word_until_ = kNever;
  TimeNs stage_began_;
  std::unique_ptr<Line> coordinator_;

  // Of several hosts.
  std::optional<Route> route_;
  std::optional<Handout> handout_;
  std::optional<Dialer> dialer_;   // to the rank that has the table
  std::unique_ptr<Line> source_;
  std::vector<std::byte> table_;   // empty: not here yet
  bool shared_ = false;            // the segment is here, or none is needed
  bool got_more_ = false;          // since the last step

  Meeting meeting_;
  Status failure_;  // of leaving and ended
};

}  // namespace hcomm
