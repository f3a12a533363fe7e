#include "bootstrap/message.h"

#include <algorithm>

#include "bootstrap/wire.h"

namespace hcomm {
namespace {

constexpr std::uint64_t kMagic = 0x74656d6d6f636821;  // any number that a stray does not send

constexpr std::uint32_t kHelloKind = 1;
constexpr std::size_t kFactsBytes = 16 + sizeof(HostId) + 1 + kMaxMemberAddresses * kWireAddressBytes;
constexpr std::size_t kMemberBytes = kFactsBytes + 4;

Status malformed(std::string_view what) {
  return Status::failure(hcommInvalidArgument, "malformed message: " + std::string(what));
}

void write_prefix(Writer& writer, std::uint32_t kind) {
  writer.number(kMagic);
  writer.number(kProtocolVersion);
  writer.number(kind);
}

// The kind, which is left to the caller to judge.
Result<std::uint32_t> read_prefix(Reader& reader) {
  const auto magic = reader.number<std::uint64_t>();
  const auto version = reader.number<std::uint32_t>();
  const auto kind = reader.number<std::uint32_t>();
  if (!reader.good()) return malformed("it is cut");
  if (magic != kMagic) return malformed("wrong first bytes");
  if (version != kProtocolVersion) return malformed("version " + std::to_string(version));
  return kind;
}

void write_facts(Writer& writer, const Facts& facts) {
  writer.number(facts.pid);
  writer.number(facts.uid);
  writer.number(facts.pid_namespace);
  writer.raw(facts.host);
  writer.addresses(facts.addresses, kMaxMemberAddresses);
}

Result<Facts> read_facts(Reader& reader) {
  Facts facts;
  facts.pid = reader.number<std::int32_t>();
  facts.uid = reader.number<std::uint32_t>();
  facts.pid_namespace = reader.number<std::uint64_t>();
  const ConstBytes host = reader.raw(facts.host.size());
  std::copy(host.begin(), host.end(), facts.host.begin());
  facts.addresses = reader.addresses(kMaxMemberAddresses);
  if (!reader.good()) return malformed("the facts of a rank");
  if (facts.pid <= 0) return malformed("pid " + std::to_string(facts.pid));
  return facts;
}

bool known_code(std::int32_t code) { return code > hcommSuccess && code <= hcommOutOfMemory; }

}  // namespace

std::string printable(std::string_view text) {
  std::string safe(text);
  for (char& character : safe) {
    if (character < ' ' || character > '~') character = '?';
  }
  return safe;
}

Result<Greeting> parse_greeting(ConstBytes bytes) {
  Reader reader(bytes);
  Greeting greeting;
  const auto magic = reader.number<std::uint64_t>();
  greeting.version = reader.number<std::uint32_t>();
  const auto kind = reader.number<std::uint32_t>();
  const ConstBytes secret = reader.raw(greeting.secret.size());
  if (!reader.good()) return malformed(std::to_string(bytes.size()) + " bytes");
  if (magic != kMagic) return malformed("wrong first bytes");
  if (kind != kHelloKind) return malformed("it does not begin with a hello");
  std::copy(secret.begin(), secret.end(), greeting.secret.begin());
  return greeting;
}

std::vector<std::byte> to_bytes(const Hello& hello, const JobId& id) {
  HCOMM_ASSERT(hello.agreement.size() <= kMaxAgreementBytes);
  Writer writer;
  write_prefix(writer, kHelloKind);
  writer.raw(id.secret);
  writer.number(hello.round);
  writer.number(hello.rank);
  writer.number(hello.ranks);
  write_facts(writer, hello.facts);
  writer.text(hello.agreement, kMaxAgreementBytes);
  return std::move(writer).take();
}

Result<Hello> parse_hello(ConstBytes bytes) {
  Reader reader(bytes);
  Result<std::uint32_t> kind = read_prefix(reader);
  if (!kind.ok()) return std::move(kind).status();
  if (kind.value() != kHelloKind) return malformed("kind " + std::to_string(kind.value()));
  reader.raw(sizeof(JobId::secret));
  Hello hello;
  hello.round = reader.number<std::uint64_t>();
  hello.rank = reader.number<std::int32_t>();
  hello.ranks = reader.number<std::int32_t>();
  Result<Facts> facts = read_facts(reader);
  if (!facts.ok()) return std::move(facts).status();
  hello.facts = std::move(facts).value();
  hello.agreement = printable(reader.text(kMaxAgreementBytes));
  if (!reader.done()) return malformed("the settings of a hello");
  return hello;
}

std::vector<std::byte> to_bytes(const Ask& ask) {
  Writer writer;
  write_prefix(writer, static_cast<std::uint32_t>(ask.kind));
  writer.number(ask.timeout_ns);
  return std::move(writer).take();
}

Result<Ask> parse_ask(ConstBytes bytes) {
  Reader reader(bytes);
  Result<std::uint32_t> kind = read_prefix(reader);
  if (!kind.ok()) return std::move(kind).status();
  Ask ask;
  ask.kind = static_cast<AskKind>(kind.value());
  ask.timeout_ns = reader.number<std::int64_t>();
  if (ask.kind != AskKind::who && ask.kind != AskKind::give_up) return malformed("it does not ask");
  if (!reader.done() || ask.timeout_ns < 0) return malformed("the time of a question");
  return ask;
}

std::vector<std::byte> to_bytes(const Answer& answer) {
  Writer writer;
  write_prefix(writer, static_cast<std::uint32_t>(answer.kind));
  writer.number(static_cast<std::int32_t>(answer.code));
  writer.number(answer.ranks);
  writer.number(answer.context);
  writer.text(answer.text, kMaxAnswerText);
  return std::move(writer).take();
}

Result<Answer> parse_answer(ConstBytes bytes) {
  Reader reader(bytes);
  Result<std::uint32_t> kind = read_prefix(reader);
  if (!kind.ok()) return std::move(kind).status();
  Answer answer;
  answer.kind = static_cast<AnswerKind>(kind.value());
  const auto code = reader.number<std::int32_t>();
  answer.ranks = reader.number<std::int32_t>();
  answer.context = reader.number<std::uint64_t>();
  answer.text = reader.text(kMaxAnswerText);
  const bool welcome = answer.kind == AnswerKind::welcome;
  const bool refusal = answer.kind == AnswerKind::refusal || answer.kind == AnswerKind::over;
  if (!welcome && !refusal && answer.kind != AnswerKind::news) return malformed("kind " + std::to_string(kind.value()));
  if (!reader.done()) return malformed("the text of an answer");
  if (refusal ? !known_code(code) : code != hcommSuccess) return malformed("code " + std::to_string(code));
  if (welcome && (answer.ranks < 1 || answer.ranks > kMaxMeetingRanks)) {
    return malformed(std::to_string(answer.ranks) + " ranks");
  }
  answer.code = static_cast<hcommResult_t>(code);
  for (char& character : answer.text) {
    if (character != '\n' && (character < ' ' || character > '~')) character = '?';
  }
  return answer;
}

std::size_t member_table_bytes(int ranks) { return static_cast<std::size_t>(ranks) * kMemberBytes; }

std::vector<std::byte> to_bytes(const std::vector<Member>& members) {
  Writer writer;
  for (const Member& member : members) {
    write_facts(writer, member.facts);
    writer.number(member.visible_pid);
  }
  return std::move(writer).take();
}

Result<std::vector<Member>> parse_members(ConstBytes bytes, int ranks) {
  if (ranks < 1 || ranks > kMaxMeetingRanks) return malformed(std::to_string(ranks) + " members");
  if (bytes.size() != member_table_bytes(ranks)) return malformed("a table of " + std::to_string(bytes.size()) + " bytes");
  Reader reader(bytes);
  std::vector<Member> members(static_cast<std::size_t>(ranks));
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    Result<Facts> facts = read_facts(reader);
    if (!facts.ok()) return std::move(facts).status();
    members[rank] = {std::move(facts).value(), reader.number<std::int32_t>()};
    if (members[rank].visible_pid < 0) return malformed("member " + std::to_string(rank));
  }
  return members;
}

std::vector<int> local_group(const std::vector<Member>& members, int rank) {
  const HostId& host = members.at(static_cast<std::size_t>(rank)).facts.host;
  std::vector<int> group;
  for (std::size_t other = 0; other < members.size(); ++other) {
    if (members[other].facts.host == host) group.push_back(static_cast<int>(other));
  }
  return group;
}

}  // namespace hcomm
