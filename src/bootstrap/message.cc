#include "bootstrap/message.h"

#include <algorithm>

#include "bootstrap/wire.h"

namespace hcomm {
namespace {

constexpr std::uint64_t kMagic = 0x74656d6d6f636821;  // any number that a stray does not send

constexpr std::uint32_t kHelloKind = 1;
constexpr std::uint32_t kTableKind = 11;
constexpr std::size_t kTableHeaderBytes = 24;
constexpr std::size_t kCoreUseBytes = sizeof(HostId) + 4 + 8 * CoreUse::kMaskWords;
constexpr std::size_t kFactsBytes =
    16 + sizeof(HostId) + 1 + kMaxMemberAddresses * kWireAddressBytes + kCoreUseBytes + 1;
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
  writer.raw(facts.cores.machine);
  writer.number(facts.cores.quota);
  for (const std::uint64_t word : facts.cores.mask) writer.number(word);
  writer.number(facts.store);
}

HostId read_host(Reader& reader) {
  HostId host{};
  std::ranges::copy(reader.raw(host.size()), host.begin());
  return host;
}

Result<Facts> read_facts(Reader& reader) {
  Facts facts;
  facts.pid = reader.number<std::int32_t>();
  facts.uid = reader.number<std::uint32_t>();
  facts.pid_namespace = reader.number<std::uint64_t>();
  facts.host = read_host(reader);
  facts.addresses = reader.addresses(kMaxMemberAddresses);
  facts.cores.machine = read_host(reader);
  facts.cores.quota = reader.number<std::uint32_t>();
  for (std::uint64_t& word : facts.cores.mask) word = reader.number<std::uint64_t>();
  facts.store = reader.number<std::uint8_t>();
  if (!reader.good()) return malformed("the facts of a rank");
  if (facts.pid <= 0) return malformed("pid " + std::to_string(facts.pid));
  return facts;
}

void write_route(Writer& writer, const Route& route) {
  HCOMM_ASSERT(route.feeds.size() <= kMaxFed);
  writer.number(route.leader);
  writer.number(route.group);
  writer.number(route.place);
  writer.number(route.source);
  writer.addresses(route.source_at, kMaxMemberAddresses);
  writer.number(static_cast<std::uint8_t>(route.feeds.size()));
  for (const std::int32_t rank : route.feeds) writer.number(rank);
}

// Nothing where it is not legal in a meeting of so many ranks.
std::optional<Route> read_route(Reader& reader, int ranks) {
  const auto is_rank = [&](std::int32_t rank) { return rank >= 0 && rank < ranks; };
  Route route;
  route.leader = reader.number<std::int32_t>();
  route.group = reader.number<std::int32_t>();
  route.place = reader.number<std::int32_t>();
  route.source = reader.number<std::int32_t>();
  route.source_at = reader.addresses(kMaxMemberAddresses);
  const auto fed = reader.number<std::uint8_t>();
  if (!reader.good() || fed > kMaxFed) return std::nullopt;
  for (std::uint8_t i = 0; i < fed; ++i) route.feeds.push_back(reader.number<std::int32_t>());
  const bool legal = reader.good() && is_rank(route.leader) && route.group >= 1 && route.group <= ranks && route.place >= 0 &&
                     route.place < route.group && (route.source >= kFromLeader && route.source < ranks) &&
                     (route.source < 0 || !route.source_at.empty()) && std::ranges::all_of(route.feeds, is_rank);
  return legal ? std::optional(route) : std::nullopt;
}

// A peer's text of several lines, safe to print.
std::string lines_of(std::string text) {
  for (char& character : text) {
    if (character != '\n' && (character < ' ' || character > '~')) character = '?';
  }
  return text;
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

Result<Opening> parse_opening(ConstBytes bytes) {
  Reader reader(bytes);
  Opening opening;
  const auto magic = reader.number<std::uint64_t>();
  opening.version = reader.number<std::uint32_t>();
  const auto kind = reader.number<std::uint32_t>();
  const ConstBytes secret = reader.raw(opening.secret.size());
  if (!reader.good()) return malformed(std::to_string(bytes.size()) + " bytes");
  if (magic != kMagic) return malformed("wrong first bytes");
  if (kind != kHelloKind) return malformed("it does not begin with a hello");
  std::copy(secret.begin(), secret.end(), opening.secret.begin());
  return opening;
}

std::vector<std::byte> to_bytes(const Hello& hello, const std::array<std::byte, 32>& secret) {
  HCOMM_ASSERT(hello.agreement.size() <= kMaxAgreementBytes);
  Writer writer;
  write_prefix(writer, kHelloKind);
  writer.raw(secret);
  writer.number(hello.round);
  writer.number(hello.rank);
  writer.number(hello.ranks);
  write_facts(writer, hello.facts);
  writer.addresses(hello.meets_at, kMaxMemberAddresses);
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
  hello.meets_at = reader.addresses(kMaxMemberAddresses);
  hello.agreement = printable(reader.text(kMaxAgreementBytes));
  if (!reader.done()) return malformed("the settings of a hello");
  return hello;
}

std::vector<std::byte> to_bytes(const Ask& ask) {
  Writer writer;
  write_prefix(writer, static_cast<std::uint32_t>(ask.kind));
  writer.number(ask.timeout_ns);
  writer.number(static_cast<std::int32_t>(ask.code));
  writer.text(ask.text, kMaxAnswerText);
  return std::move(writer).take();
}

Result<Ask> parse_ask(ConstBytes bytes) {
  Reader reader(bytes);
  Result<std::uint32_t> kind = read_prefix(reader);
  if (!kind.ok()) return std::move(kind).status();
  Ask ask;
  ask.kind = static_cast<AskKind>(kind.value());
  ask.timeout_ns = reader.number<std::int64_t>();
  const auto code = reader.number<std::int32_t>();
  ask.text = lines_of(reader.text(kMaxAnswerText));
  const bool failed = ask.kind == AskKind::failed;
  if (ask.kind != AskKind::who && ask.kind != AskKind::give_up && ask.kind != AskKind::settled && !failed) {
    return malformed("it does not ask");
  }
  if (!reader.done() || ask.timeout_ns < 0) return malformed("the time or the text of a question");
  if (failed ? !known_code(code) : code != hcommSuccess) return malformed("code " + std::to_string(code));
  ask.code = static_cast<hcommResult_t>(code);
  return ask;
}

std::vector<std::byte> to_bytes(const Answer& answer) {
  Writer writer;
  write_prefix(writer, static_cast<std::uint32_t>(answer.kind));
  writer.number(static_cast<std::int32_t>(answer.code));
  writer.number(answer.ranks);
  writer.number(answer.context);
  writer.text(answer.text, kMaxAnswerText);
  writer.number(static_cast<std::uint8_t>(answer.route.has_value()));
  if (answer.route.has_value()) write_route(writer, *answer.route);
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
  answer.text = lines_of(reader.text(kMaxAnswerText));
  const auto has_route = reader.number<std::uint8_t>();
  const bool welcome = answer.kind == AnswerKind::welcome;
  const bool refusal = answer.kind == AnswerKind::refusal || answer.kind == AnswerKind::over;
  if (!welcome && !refusal && answer.kind != AnswerKind::news && answer.kind != AnswerKind::met) {
    return malformed("kind " + std::to_string(kind.value()));
  }
  if (welcome && (answer.ranks < 1 || answer.ranks > kMaxMeetingRanks)) {
    return malformed(std::to_string(answer.ranks) + " ranks");
  }
  if (has_route > (welcome ? 1 : 0)) return malformed("a route that goes nowhere");
  if (has_route == 1) answer.route = read_route(reader, answer.ranks);
  if (!reader.done() || answer.route.has_value() != (has_route == 1)) return malformed("the text or the route of an answer");
  if (refusal ? !known_code(code) : code != hcommSuccess) return malformed("code " + std::to_string(code));
  answer.code = static_cast<hcommResult_t>(code);
  return answer;
}

std::size_t table_message_bytes(int ranks) { return kTableHeaderBytes + member_table_bytes(ranks); }

std::vector<std::byte> table_message(std::uint64_t context, ConstBytes table) {
  Writer writer;
  write_prefix(writer, kTableKind);
  writer.number(context);
  writer.raw(table);
  return std::move(writer).take();
}

bool is_table_message(ConstBytes bytes) {
  Reader reader(bytes);
  const Result<std::uint32_t> kind = read_prefix(reader);
  return kind.ok() && kind.value() == kTableKind;
}

Result<ConstBytes> parse_table_message(ConstBytes bytes, std::uint64_t context) {
  Reader reader(bytes);
  Result<std::uint32_t> kind = read_prefix(reader);
  if (!kind.ok()) return std::move(kind).status();
  if (kind.value() != kTableKind) return malformed("kind " + std::to_string(kind.value()) + " where a table was due");
  if (reader.number<std::uint64_t>() != context || !reader.good()) return malformed("a table of another meeting");
  return bytes.subspan(kTableHeaderBytes);
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
