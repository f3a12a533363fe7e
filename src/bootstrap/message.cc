#include "bootstrap/message.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace hcomm {
namespace {

constexpr std::uint64_t kMagic = 0x74656d6d6f636821;  // any number that a stray does not send

struct Prefix {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t kind;
};
constexpr std::uint32_t kHelloKind = 1;

struct FactsWire {
  std::int32_t pid;
  std::uint32_t uid;
  std::uint64_t pid_namespace;
};

struct HelloWire {
  Prefix prefix;
  std::array<std::byte, 32> secret;
  std::uint64_t round;
  std::int32_t rank;
  std::int32_t ranks;
  FactsWire facts;
  std::uint64_t agreement_bytes;
  std::array<char, kMaxAgreementBytes> agreement;
};

struct AskWire {
  Prefix prefix;
  std::int64_t timeout_ns;
};

struct AnswerWire {
  Prefix prefix;
  std::int32_t code;
  std::int32_t ranks;
  std::uint64_t context;
  std::uint64_t text_bytes;
  std::array<char, kMaxAnswerText> text;
};

struct MemberWire {
  FactsWire facts;
  std::int32_t visible_pid;
  std::int32_t zero;
};

static_assert(sizeof(HelloWire) == 16 + 32 + 16 + sizeof(FactsWire) + 8 + kMaxAgreementBytes);
static_assert(sizeof(HelloWire) <= kMaxMessageBytes && sizeof(AnswerWire) <= kMaxMessageBytes);
static_assert(sizeof(MemberWire) == sizeof(FactsWire) + 8);
static_assert(sizeof(AskWire) == 24);

template <class Wire>
std::vector<std::byte> raw(const Wire& wire) {
  static_assert(std::is_trivially_copyable_v<Wire> && std::has_unique_object_representations_v<Wire>);
  std::vector<std::byte> bytes(sizeof wire);
  std::memcpy(bytes.data(), &wire, sizeof wire);
  return bytes;
}

Status malformed(std::string_view what) {
  return Status::failure(hcommInvalidArgument, "malformed message: " + std::string(what));
}

// The struct, if the packet is one of this protocol's and of exactly this size. The kind is left to the caller.
template <class Wire>
Result<Wire> cooked(ConstBytes bytes) {
  if (bytes.size() != sizeof(Wire)) return malformed(std::to_string(bytes.size()) + " bytes");
  Wire wire;
  std::memcpy(&wire, bytes.data(), sizeof wire);
  if (wire.prefix.magic != kMagic) return malformed("wrong first bytes");
  if (wire.prefix.version != kProtocolVersion) return malformed("version " + std::to_string(wire.prefix.version));
  return wire;
}

FactsWire to_wire(const Facts& facts) { return {facts.pid, facts.uid, facts.pid_namespace}; }

Result<Facts> parse_facts(const FactsWire& wire) {
  Facts facts{.pid = wire.pid, .uid = wire.uid, .pid_namespace = wire.pid_namespace};
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
  Prefix prefix;
  Greeting greeting;
  if (bytes.size() < sizeof prefix + greeting.secret.size()) return malformed(std::to_string(bytes.size()) + " bytes");
  std::memcpy(&prefix, bytes.data(), sizeof prefix);
  if (prefix.magic != kMagic) return malformed("wrong first bytes");
  if (prefix.kind != kHelloKind) return malformed("it does not begin with a hello");
  greeting.version = prefix.version;
  std::memcpy(greeting.secret.data(), bytes.data() + sizeof prefix, greeting.secret.size());
  return greeting;
}

std::vector<std::byte> to_bytes(const Hello& hello, const JobId& id) {
  HCOMM_ASSERT(hello.agreement.size() <= kMaxAgreementBytes);
  HelloWire wire{};
  wire.prefix = {kMagic, kProtocolVersion, kHelloKind};
  wire.secret = id.secret;
  wire.round = hello.round;
  wire.rank = hello.rank;
  wire.ranks = hello.ranks;
  wire.facts = to_wire(hello.facts);
  wire.agreement_bytes = hello.agreement.size();
  std::copy(hello.agreement.begin(), hello.agreement.end(), wire.agreement.begin());
  return raw(wire);
}

Result<Hello> parse_hello(ConstBytes bytes) {
  Result<HelloWire> cooked_hello = cooked<HelloWire>(bytes);
  if (!cooked_hello.ok()) return std::move(cooked_hello).status();
  const HelloWire& wire = cooked_hello.value();
  if (wire.prefix.kind != kHelloKind) return malformed("kind " + std::to_string(wire.prefix.kind));
  if (wire.agreement_bytes > kMaxAgreementBytes) return malformed("a text of " + std::to_string(wire.agreement_bytes) + " bytes");
  Result<Facts> facts = parse_facts(wire.facts);
  if (!facts.ok()) return std::move(facts).status();
  Hello hello;
  hello.round = wire.round;
  hello.rank = wire.rank;
  hello.ranks = wire.ranks;
  hello.facts = facts.value();
  hello.agreement = printable({wire.agreement.data(), static_cast<std::size_t>(wire.agreement_bytes)});
  return hello;
}

std::vector<std::byte> to_bytes(const Ask& ask) {
  AskWire wire{};
  wire.prefix = {kMagic, kProtocolVersion, static_cast<std::uint32_t>(ask.kind)};
  wire.timeout_ns = ask.timeout_ns;
  return raw(wire);
}

Result<Ask> parse_ask(ConstBytes bytes) {
  Result<AskWire> wire = cooked<AskWire>(bytes);
  if (!wire.ok()) return std::move(wire).status();
  Ask ask;
  ask.kind = static_cast<AskKind>(wire.value().prefix.kind);
  ask.timeout_ns = wire.value().timeout_ns;
  if (ask.kind != AskKind::who && ask.kind != AskKind::give_up) return malformed("it does not ask");
  if (ask.timeout_ns < 0) return malformed("a negative time");
  return ask;
}

std::vector<std::byte> to_bytes(const Answer& answer) {
  AnswerWire wire{};
  wire.prefix = {kMagic, kProtocolVersion, static_cast<std::uint32_t>(answer.kind)};
  wire.code = answer.code;
  wire.ranks = answer.ranks;
  wire.context = answer.context;
  wire.text_bytes = std::min(answer.text.size(), kMaxAnswerText);
  std::copy_n(answer.text.begin(), wire.text_bytes, wire.text.begin());
  return raw(wire);
}

Result<Answer> parse_answer(ConstBytes bytes) {
  Result<AnswerWire> cooked_answer = cooked<AnswerWire>(bytes);
  if (!cooked_answer.ok()) return std::move(cooked_answer).status();
  const AnswerWire& wire = cooked_answer.value();
  Answer answer;
  answer.kind = static_cast<AnswerKind>(wire.prefix.kind);
  const bool welcome = answer.kind == AnswerKind::welcome;
  const bool refusal = answer.kind == AnswerKind::refusal;
  if (!welcome && !refusal && answer.kind != AnswerKind::news) return malformed("kind " + std::to_string(wire.prefix.kind));
  if (refusal ? !known_code(wire.code) : wire.code != hcommSuccess) return malformed("code " + std::to_string(wire.code));
  if (welcome && (wire.ranks < 1 || wire.ranks > kMaxMeetingRanks)) return malformed(std::to_string(wire.ranks) + " ranks");
  if (wire.text_bytes > kMaxAnswerText) return malformed("a text of " + std::to_string(wire.text_bytes) + " bytes");
  answer.code = static_cast<hcommResult_t>(wire.code);
  answer.ranks = wire.ranks;
  answer.context = wire.context;
  answer.text.assign(wire.text.data(), static_cast<std::size_t>(wire.text_bytes));
  for (char& character : answer.text) {
    if (character != '\n' && (character < ' ' || character > '~')) character = '?';
  }
  return answer;
}

std::size_t member_table_bytes(int ranks) { return static_cast<std::size_t>(ranks) * sizeof(MemberWire); }

std::vector<std::byte> to_bytes(const std::vector<Member>& members) {
  std::vector<std::byte> bytes(members.size() * sizeof(MemberWire));
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    const MemberWire wire{to_wire(members[rank].facts), members[rank].visible_pid, 0};
    std::memcpy(bytes.data() + rank * sizeof wire, &wire, sizeof wire);
  }
  return bytes;
}

Result<std::vector<Member>> parse_members(ConstBytes bytes, int ranks) {
  if (ranks < 1 || ranks > kMaxMeetingRanks) return malformed(std::to_string(ranks) + " members");
  if (bytes.size() != member_table_bytes(ranks)) return malformed("a table of " + std::to_string(bytes.size()) + " bytes");
  std::vector<Member> members(static_cast<std::size_t>(ranks));
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    MemberWire wire;
    std::memcpy(&wire, bytes.data() + rank * sizeof wire, sizeof wire);
    Result<Facts> facts = parse_facts(wire.facts);
    if (!facts.ok()) return std::move(facts).status();
    if (wire.visible_pid < 0 || wire.zero != 0) return malformed("member " + std::to_string(rank));
    members[rank] = {facts.value(), wire.visible_pid};
  }
  return members;
}

}  // namespace hcomm
