// The coordinator's turns over lines in memory, at times that the test says.
#include "bootstrap/server.h"

#include <catch2/catch.hpp>
#include <deque>

namespace hcomm {
namespace {

using Catch::Matchers::Contains;

struct Mail {
  std::deque<std::vector<std::byte>> to_server;
  std::vector<Answer> answers;
  bool closed = false;  // by the rank
};

class MailLine final : public Line {
 public:
  explicit MailLine(std::shared_ptr<Mail> mail) : mail_(std::move(mail)) {}

  Packet receive(Bytes) override {
    Packet packet;
    packet.state = mail_->closed ? Received::end : Received::nothing;
    if (mail_->to_server.empty()) return packet;
    current_ = std::move(mail_->to_server.front());
    mail_->to_server.pop_front();
    packet.state = Received::packet;
    packet.bytes = current_;
    return packet;
  }
  Sent send(ConstBytes message, std::span<const int>) override {
    const Result<Answer> answer = parse_answer(message);
    REQUIRE(answer.ok());
    mail_->answers.push_back(answer.value());
    return Sent::yes;
  }
  bool restless() const override { return mail_->closed || !mail_->to_server.empty(); }
  bool drained() const override { return true; }
  void close_in_child() override {}

 private:
  const std::shared_ptr<Mail> mail_;
  std::vector<std::byte> current_;
};

// A job of three ranks that meets as often as it likes.
struct Office {
  JobId id;
  Server server{id, {.ranks = 3, .many_rounds = true, .make_segment = {}, .table = {}, .listen_at = {}, .ports = {}, .warn = {}}};
  std::vector<std::shared_ptr<Mail>> came;

  Mail& come(int rank, TimeNs now, const std::string& settings, int ranks = 3) {
    came.push_back(std::make_shared<Mail>());
    Hello hello{.rank = rank, .ranks = ranks, .facts = {.pid = 100 + rank}, .meets_at = {}, .agreement = settings};
    hello.facts.addresses = {};
    came.back()->to_server.push_back(to_bytes(hello, id.secret));
    server.let_in({.line = std::make_unique<MailLine>(came.back()), .remote = true, .claimed_rank = rank}, now);
    server.turn(now);
    return *came.back();
  }
};

bool is_told(const Mail& mail, const std::string& text) {
  return !mail.answers.empty() && mail.answers.back().kind == AnswerKind::refusal &&
         mail.answers.back().code == hcommMismatch && mail.answers.back().text.find(text) != std::string::npos;
}

bool waits(const Mail& mail) { return mail.answers.size() == 1 && mail.answers.back().kind == AnswerKind::news; }

TEST_CASE("ranks that contradict each other are told when the last has come, rank 0 after all others") {
  Office office;
  Mail& serving = office.come(0, 0, "HCOMM_ALGO=ring");
  Mail& other = office.come(2, 1 * kSecond, "HCOMM_ALGO=flat");
  CHECK(waits(serving));
  CHECK(waits(other));
  Mail& last = office.come(1, 2 * kSecond, "HCOMM_ALGO=ring");
  for (const Mail* mail : {&serving, &other, &last}) CHECK(is_told(*mail, "HCOMM_ALGO is 'ring' on rank 0 and 'flat' on rank 2"));
}

TEST_CASE("who never comes keeps the others from their error for two seconds") {
  Office office;
  Mail& one = office.come(1, 0, "HCOMM_ALGO=ring");
  Mail& other = office.come(2, 10 * kSecond, "HCOMM_ALGO=flat");
  CHECK(office.server.next_deadline() == 12 * kSecond);
  office.server.turn(12 * kSecond - 1);
  CHECK(waits(one));
  CHECK(waits(other));
  office.server.turn(12 * kSecond);
  CHECK(is_told(one, "HCOMM_ALGO"));
  CHECK(is_told(other, "HCOMM_ALGO"));
  const Mail& late = office.come(0, 13 * kSecond, "HCOMM_ALGO=ring");
  CHECK(is_told(late, "failed already"));
}

TEST_CASE("a rank of another size counts as one that has come") {
  Office office;
  Mail& one = office.come(0, 0, "");
  Mail& other = office.come(2, 0, "", 4);
  CHECK(waits(other));
  Mail& last = office.come(1, 0, "");
  for (const Mail* mail : {&one, &other, &last}) CHECK(is_told(*mail, "says 4, the others 3"));
}

TEST_CASE("whoever leaves ends a round that was to end badly, with its first reason") {
  for (const int leaver : {0, 1}) {
    Office office;
    Mail& one = office.come(1, 0, "HCOMM_ALGO=ring");
    Mail& other = office.come(2, 0, "HCOMM_ALGO=flat");
    office.came[static_cast<std::size_t>(leaver)]->closed = true;
    office.server.turn(1);
    CHECK(is_told(leaver == 0 ? other : one, "HCOMM_ALGO"));
  }
}

}  // namespace
}  // namespace hcomm
