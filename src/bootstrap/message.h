// The words between a rank and its coordinator, and their bytes: little-endian fields (wire.h), because the two may be on
// different machines. Parsing checks every field and allocates nothing that a peer could size.
//
//   rank                                     coordinator
//    |-- Hello (who I am, the secret) -------->|
//    |-- Ask who (every few seconds) --------->|
//    |<------------------- Answer news --------|   who is missing
//    |-- Ask give_up (deadline) -------------->|   ends the round for all who wait in it
//    |<------------------- Answer refusal -----|   a code and a text
//    |<------------------- Answer welcome -----|   all have come
//
// If all came over Unix sockets, the welcome brings two descriptors: the segment, and the sealed table of members. Otherwise it
// brings a route (route.h) to both, and the meeting goes on until all are there:
//
//    |<------------------- Table --------------|   to some ranks, who hand it on
//    |-- Ask settled ------------------------->|   I have all I need, and so do those that I feed; or Ask failed, with the reason
//    |<------------------- Answer met ---------|   so do all others
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/status.h"
#include "bootstrap/facts.h"
#include "bootstrap/job_id.h"

namespace hcomm {

inline constexpr std::uint32_t kProtocolVersion = 3;
inline constexpr int kMaxMeetingRanks = 4096;
inline constexpr std::size_t kMaxAgreementBytes = 2048;
inline constexpr std::size_t kMaxAnswerText = 2048;
inline constexpr std::size_t kMaxMessageBytes = 4096;

struct Hello {
  std::uint64_t round = 0;
  std::int32_t rank = 0;
  std::int32_t ranks = 0;
  Facts facts;
  std::vector<Address> meets_at;  // where this rank would hand the table on; at most kMaxMemberAddresses
  std::string agreement;          // knobs that must agree: "NAME=value;NAME=value"
};

enum class AskKind : std::uint32_t { who = 2, give_up = 3, settled = 8, failed = 9 };
struct Ask {
  AskKind kind = AskKind::who;
  TimeNs timeout_ns = 0;              // how long the asker was ready to wait
  hcommResult_t code = hcommSuccess;  // of failed
  std::string text;                   // of failed; cut at kMaxAnswerText
};

// How a rank comes to the table of members and to its segment in a meeting of several hosts.
inline constexpr std::int32_t kFromCoordinator = -1;
inline constexpr std::int32_t kFromLeader = -2;
inline constexpr std::size_t kMaxFed = 2;
struct Route {
  std::int32_t leader = 0;             // the lowest rank of this rank's host
  std::int32_t group = 1;              // ranks of this host
  std::int32_t place = 0;              // of this rank among them
  std::int32_t source = kFromLeader;   // who has the table for it: a rank, the coordinator, or its leader, with the segment
  std::vector<Address> source_at;      // of a rank
  std::vector<std::int32_t> feeds;     // who will fetch the table here; at most kMaxFed

  friend bool operator==(const Route&, const Route&) = default;
};

// Empty news: this rank has arrived. Over: a refusal, because all ranks have met already.
enum class AnswerKind : std::uint32_t { news = 4, refusal = 5, welcome = 6, over = 7, met = 10 };
struct Answer {
  AnswerKind kind = AnswerKind::news;
  hcommResult_t code = hcommSuccess;  // of a refusal, also of one that is over
  std::int32_t ranks = 0;             // of a welcome
  std::uint64_t context = 0;          // of a welcome
  std::string text;                   // cut at kMaxAnswerText
  std::optional<Route> route;         // of a welcome: there are several hosts
};

// One rank as all others see it.
struct Member {
  Facts facts;
  std::int32_t visible_pid = 0;  // as the coordinator's pid namespace knows it; 0: not at all

  friend bool operator==(const Member&, const Member&) = default;
};

// The first bytes of a hello, the same in all versions: they tell a stray from a rank of another build.
struct Opening {
  std::uint32_t version = 0;
  std::array<std::byte, 32> secret{};
};
Result<Opening> parse_opening(ConstBytes bytes);

// Over TCP the secret is all zero: both ends have shown that they hold it (net/handshake.h).
std::vector<std::byte> to_bytes(const Hello& hello, const std::array<std::byte, 32>& secret);
Result<Hello> parse_hello(ConstBytes bytes);

std::vector<std::byte> to_bytes(const Ask& ask);
Result<Ask> parse_ask(ConstBytes bytes);

std::vector<std::byte> to_bytes(const Answer& answer);
Result<Answer> parse_answer(ConstBytes bytes);

// The table of members on its way between hosts, for the meeting of this context.
std::vector<std::byte> table_message(std::uint64_t context, ConstBytes table);
Result<ConstBytes> parse_table_message(ConstBytes bytes, std::uint64_t context);  // the table, unparsed
std::size_t table_message_bytes(int ranks);
bool is_table_message(ConstBytes bytes);  // by its kind alone

// The table of members: one record of fixed size for each rank, in rank order.
std::size_t member_table_bytes(int ranks);
std::vector<std::byte> to_bytes(const std::vector<Member>& members);
Result<std::vector<Member>> parse_members(ConstBytes bytes, int ranks);

// The ranks of this rank's host, in rank order, itself among them: the same classes on all ranks.
std::vector<int> local_group(const std::vector<Member>& members, int rank);

// Bytes of a peer as text that is safe to print: anything but printable ASCII becomes '?'.
std::string printable(std::string_view text);

}  // namespace hcomm
