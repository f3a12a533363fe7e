// The coordinator's work, one turn at a time, over whatever lines it is given. One thread; nothing blocks; time is an argument.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "bootstrap/coordinator.h"
#include "bootstrap/ledger.h"
#include "bootstrap/line.h"
#include "bootstrap/message.h"

namespace hcomm {

class Server {
 public:
  Server(const JobId& id, CoordinatorOptions options);

  // Somebody has come. Over the network it has shown that it holds the secret, and which rank it claims to be.
  struct Visitor {
    std::unique_ptr<Line> line;
    int visible_pid = 0;
    bool remote = false;
    std::int32_t claimed_rank = -1;
  };
  void let_in(Visitor visitor, TimeNs now);
  bool has_room() const { return greeting_ < kMaxGreeting; }

  // Does what can be done.
  void turn(TimeNs now);
  TimeNs next_deadline() const;  // for the next turn, if nothing happens

  // A line about a connection that was dropped; few of them.
  void stray(std::string_view what, TimeNs now);

  // An id of one round is spent and everybody knows.
  bool finished(TimeNs now) const;
  void close_all();
  void close_in_child();  // of a fork; the object is then left alone

 private:
  static constexpr int kMaxGreeting = 256;
  static constexpr int kMaxMessagesInTurn = 4;  // of one connection

  enum class Stage : std::uint8_t {
    greeting,   // connected; no hello yet
    waiting,    // arrived in an open round
    dissenting, // contradicts the others of an open round, which will end badly
    welcoming,  // the round is complete; the answer did not fit the socket yet
    settling,   // of several hosts: has its route
    leaving,    // answered; kept until the other end has read it and closed
  };
  struct Connection {
    Visitor visitor;
    Stage stage = Stage::greeting;
    TimeNs deadline = kNever;
    std::uint64_t round = 0;
    int rank = -1;
    Descriptor table;  // of members, while welcoming
  };

  bool read(int name, TimeNs now);
  void hear(int name, ConstBytes message, TimeNs now);
  void hear_greeting(int name, ConstBytes message, TimeNs now);
  void hear_hello(int name, const Hello& hello, TimeNs now);
  void hear_ask(int name, ConstBytes message, TimeNs now);
  void dissent(int name, const Hello& hello, const Status& why, TimeNs now);
  void lose(int name, TimeNs now);
  void refuse(Connection& connection, const Status& why, TimeNs now, AnswerKind kind = AnswerKind::refusal);
  void end_round(std::uint64_t number, const Status& why, TimeNs now);
  void complete_round(std::uint64_t number, TimeNs now);
  void share_segment(std::uint64_t number, TimeNs now);
  void send_routes(std::uint64_t number, TimeNs now);
  void settle(std::uint64_t number, int rank, TimeNs now);
  Status prepare_segment(int ranks);
  void welcome(Connection& connection, TimeNs now);
  void expire(TimeNs now);

  const JobId id_;
  const CoordinatorOptions options_;
  Descriptor segment_;  // from the first complete round of one host on
  Ledger ledger_;
  std::map<int, Connection> connections_;
  int next_name_ = 0;
  int greeting_ = 0;          // connections in that stage
  TimeNs ended_at_ = kNever;  // an id of one round
  TimeNs stray_warned_at_ = -kNever;
  int strays_unreported_ = 0;
};

}  // namespace hcomm
