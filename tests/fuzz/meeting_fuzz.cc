// Rooms: base, bootstrap, net
//
// The first byte says what the rest is: a hello, a question, an answer, a table of members, an id, or several hellos one after
// the other for the judgement of who may join. What is accepted means the same when it is written and read again; what is
// refused is refused in words, and no rank arrives twice.
#include "bootstrap/message.h"

#include <algorithm>

#include "base/assert.h"
#include "bootstrap/job_id.h"
#include "bootstrap/ledger.h"
#include "fuzz/fuzz.h"

namespace hcomm {
namespace {

void check_refusal(const Status& status) {
  HCOMM_ASSERT(status.code() == hcommInvalidArgument);
  HCOMM_ASSERT(!status.trail().empty());
}

void read_hello(ConstBytes given) {
  const Result<Opening> opening = parse_opening(given);
  const Result<Hello> hello = parse_hello(given);
  if (!hello.ok()) return check_refusal(hello.status());
  HCOMM_ASSERT(opening.ok());
  const Hello& first = hello.value();
  const std::vector<std::byte> written = to_bytes(first, opening.value().secret);
  HCOMM_ASSERT(written.size() == given.size());
  const Hello again = parse_hello(written).value();
  HCOMM_ASSERT(again.rank == first.rank && again.ranks == first.ranks && again.round == first.round);
  HCOMM_ASSERT(again.facts == first.facts && again.meets_at == first.meets_at && again.agreement == first.agreement);
}

void read_ask(ConstBytes given) {
  const Result<Ask> ask = parse_ask(given);
  if (!ask.ok()) return check_refusal(ask.status());
  const Ask again = parse_ask(to_bytes(ask.value())).value();
  HCOMM_ASSERT(again.kind == ask.value().kind && again.timeout_ns == ask.value().timeout_ns && again.text == ask.value().text);
}

void read_answer(ConstBytes given) {
  const Result<Answer> answer = parse_answer(given);
  if (!answer.ok()) return check_refusal(answer.status());
  const Answer again = parse_answer(to_bytes(answer.value())).value();
  HCOMM_ASSERT(again.kind == answer.value().kind && again.route == answer.value().route && again.text == answer.value().text);
}

void read_table(ConstBytes given) {
  if (given.empty()) return;
  const int ranks = std::to_integer<int>(given.front());
  const Result<ConstBytes> table = parse_table_message(given.subspan(1), 7);
  if (!table.ok()) return check_refusal(table.status());
  const Result<std::vector<Member>> members = parse_members(table.value(), ranks);
  if (!members.ok()) return check_refusal(members.status());
  HCOMM_ASSERT(std::ranges::equal(to_bytes(members.value()), table.value()));
  const std::vector<int> group = local_group(members.value(), 0);
  HCOMM_ASSERT(!group.empty() && local_group(members.value(), group.back()) == group);
}

void read_id(ConstBytes given) {
  const Result<JobId> id = job_id_from_bytes(given);
  if (!id.ok()) return check_refusal(id.status());
  HCOMM_ASSERT(std::ranges::equal(to_bytes(id.value()), given));
}

// Each rank is told by four bytes: round, rank, ranks, settings.
void judge(ConstBytes given) {
  Ledger ledger(0, true);
  for (; given.size() >= 4; given = given.subspan(4)) {
    const auto number = [&](std::size_t at) { return static_cast<int>(static_cast<signed char>(given[at])); };
    const Hello hello{.round = std::to_integer<std::uint64_t>(given[0]),
                      .rank = number(1),
                      .ranks = number(2),
                      .facts = {.pid = 1 + std::to_integer<int>(given[3])},
                      .agreement = "HCOMM_ALGO=" + std::to_string(number(3) / 64)};
    Result<Round*> round = ledger.find(hello);
    if (!round.ok()) continue;
    const std::size_t before = round.value()->connections().size();
    const Admission admission = round.value()->admit(hello, {.connection = 1});
    if (admission.ends_the_round) round.value()->condemn(admission.status.code(), "they differ", hello.rank, 1);
    HCOMM_ASSERT(round.value()->connections().size() == before + (admission.status.ok() || admission.ends_the_round ? 1 : 0));
    if (round.value()->all_have_come()) {
      ledger.end(hello.round, round.value()->is_condemned() ? hcommMismatch : hcommSuccess, "it ended");
    }
    HCOMM_ASSERT(ledger.open_rounds().size() <= Ledger::kMaxOpenRounds);
  }
}

void run(std::uint8_t first, ConstBytes rest) {
  switch (first % 6) {
    case 0: return read_hello(rest);
    case 1: return read_ask(rest);
    case 2: return read_answer(rest);
    case 3: return read_table(rest);
    case 4: return read_id(rest);
    case 5: return judge(rest);
  }
}

}  // namespace
}  // namespace hcomm

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) hcomm::run(data[0], hcomm::bytes_of(data + 1, size - 1));
  return 0;
}
