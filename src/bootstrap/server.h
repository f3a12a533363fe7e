// The coordinator's work, one turn at a time. One thread; sockets are non-blocking; time is an argument.
#pragma once

#include <poll.h>

#include <cstdint>
#include <map>
#include <vector>

#include "base/descriptor.h"
#include "bootstrap/coordinator.h"
#include "bootstrap/ledger.h"
#include "bootstrap/message.h"
#include "bootstrap/socket.h"

namespace hcomm {

class Server {
 public:
  Server(const JobId& id, Descriptor listener, CoordinatorOptions options);

  // What to wait for, and for how long at most.
  void list_descriptors(std::vector<pollfd>& items) const;
  TimeNs next_deadline() const;

  // Does what can be done. `items` as poll() left those of list_descriptors().
  void turn(const std::vector<pollfd>& items, TimeNs now);

  // An id of one round is spent and everybody knows.
  bool finished(TimeNs now) const;
  void close_all();  // in the child of a fork

 private:
  static constexpr int kListener = -1;
  static constexpr int kMaxGreeting = 256;

  enum class Stage : std::uint8_t {
    greeting,   // connected; no hello yet
    waiting,    // arrived in an open round
    welcoming,  // the round is complete; the answer did not fit the socket yet
    leaving,    // answered; kept until the other end has read it and closed
  };
  struct Connection {
    Descriptor socket;
    Stage stage = Stage::greeting;
    TimeNs deadline = kNever;
    int visible_pid = 0;
    std::uint64_t round = 0;
    int rank = -1;
    Descriptor table;  // of members, while welcoming
  };

  void accept_all(TimeNs now);
  void read(int name, TimeNs now);
  void hear_greeting(int name, ConstBytes packet, TimeNs now);
  void hear_hello(int name, const Hello& hello, TimeNs now);
  void hear_ask(int name, ConstBytes packet, TimeNs now);
  void lose(int name, TimeNs now);
  void refuse(Connection& connection, const Status& why, TimeNs now, AnswerKind kind = AnswerKind::refusal);
  void end_round(std::uint64_t number, const Status& why, TimeNs now);
  void complete_round(std::uint64_t number, TimeNs now);
  Status prepare_segment(int ranks);
  void welcome(Connection& connection, TimeNs now);
  void expire(TimeNs now);
  void stray(std::string_view what, TimeNs now);

  const JobId id_;
  const CoordinatorOptions options_;
  Descriptor listener_;
  Descriptor segment_;  // from the first complete round on
  Ledger ledger_;
  std::map<int, Connection> connections_;
  int next_name_ = 0;
  int greeting_ = 0;                 // connections in that stage
  TimeNs listener_rests_until_ = 0;  // after a failed accept
  TimeNs ended_at_ = kNever;         // an id of one round
  TimeNs stray_warned_at_ = -kNever;
  int strays_unreported_ = 0;
};

}  // namespace hcomm
