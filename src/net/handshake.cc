#include "net/handshake.h"

#include <algorithm>

#include "base/assert.h"

namespace hcomm {
namespace {

constexpr std::array<std::byte, 8> kMagic = {std::byte{0x89}, std::byte{'h'}, std::byte{'c'},  std::byte{'o'},
                                             std::byte{'m'},  std::byte{'m'}, std::byte{'\r'}, std::byte{'\n'}};
constexpr std::uint16_t kVersion = 1;

enum class Kind : std::uint8_t { challenge = 2, proof = 3, verdict = 4 };

// Where things lie: in a hello.
constexpr std::size_t kVersionAt = 8;
constexpr std::size_t kPurposeAt = 10;
constexpr std::size_t kSocketAt = 11;
constexpr std::size_t kFromAt = 12;
constexpr std::size_t kToAt = 16;
constexpr std::size_t kZeroAt = 20;
constexpr std::size_t kJobAt = 24;
constexpr std::size_t kNonceAt = 40;
// In the header of the others.
constexpr std::size_t kKindAt = 0;
constexpr std::size_t kRefusalAt = 1;
constexpr std::size_t kHeaderVersionAt = 2;
constexpr std::size_t kHeaderZeroAt = 4;
constexpr std::size_t kBodyAt = 8;

// What each code is about, so that none can stand for another. All have the same length.
constexpr std::string_view kAcceptorDomain = "hcomm acceptor  ";
constexpr std::string_view kInitiatorDomain = "hcomm initiator ";
constexpr std::string_view kVerdictDomain = "hcomm verdict   ";

void put16(Bytes target, std::uint16_t value) {
  target[0] = static_cast<std::byte>(value & 0xff);
  target[1] = static_cast<std::byte>(value >> 8);
}

std::uint16_t get16(ConstBytes source) {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(source[0]) | std::to_integer<unsigned>(source[1]) << 8);
}

void put32(Bytes target, std::int32_t value) {
  for (std::size_t i = 0; i < 4; ++i) target[i] = static_cast<std::byte>(static_cast<std::uint32_t>(value) >> (8 * i));
}

std::int32_t get32(ConstBytes source) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value |= std::to_integer<std::uint32_t>(source[i]) << (8 * i);
  return static_cast<std::int32_t>(value);
}

bool all_zero(ConstBytes bytes) {
  return std::ranges::all_of(bytes, [](std::byte value) { return value == std::byte{0}; });
}

void put_header(Bytes message, Kind kind, Refusal refusal) {
  message[kKindAt] = static_cast<std::byte>(kind);
  message[kRefusalAt] = static_cast<std::byte>(refusal);
  put16(message.subspan(kHeaderVersionAt), kVersion);
}

void put(Bytes message, std::size_t at, ConstBytes part) { std::ranges::copy(part, message.subspan(at).begin()); }

Refusal refusal_in(ConstBytes message) { return static_cast<Refusal>(message[kRefusalAt]); }

bool is_of(ConstBytes message, Kind kind) {
  const bool known_refusal = message[kRefusalAt] <= static_cast<std::byte>(Refusal::gone);
  return message[kKindAt] == static_cast<std::byte>(kind) && known_refusal && all_zero(message.subspan(kHeaderZeroAt, 4));
}

bool of_this_version(ConstBytes message) { return get16(message.subspan(kHeaderVersionAt)) == kVersion; }

// Refusals that may come of somebody whose word is not proved, or before this end's is.
bool needs_no_code(Refusal refusal) {
  switch (refusal) {
    case Refusal::malformed:
    case Refusal::version:
    case Refusal::wrong_secret:
    case Refusal::full: return true;
    case Refusal::none:
    case Refusal::wrong_job:
    case Refusal::duplicate:
    case Refusal::gone: return false;
  }
  return false;
}

Nonce fresh_nonce() {
  Nonce nonce;
  fill_with_random(nonce);
  return nonce;
}

}  // namespace

std::string_view text(Refusal refusal) {
  switch (refusal) {
    case Refusal::none: return "not refused";
    case Refusal::malformed: return "what came is not hcomm's protocol: another program is there, or the bytes were changed";
    case Refusal::version: return "the versions of hcomm differ: install the same one for all ranks";
    case Refusal::wrong_job: return "it is of another job, or for another rank: give all ranks the same address and id";
    case Refusal::wrong_secret: return "the secrets differ: it is another job, or not all ranks have the same HCOMM_SECRET_FILE";
    case Refusal::duplicate: return "there is such a connection already";
    case Refusal::full: return "too many connections are being made there at once";
    case Refusal::gone: return "an earlier connection was lost, and this rank counts as dead there";
  }
  return "unknown refusal";
}

Handshake Handshake::initiator(const Secret& secret, const Claim& claim) { return initiator(secret, claim, fresh_nonce()); }

Handshake Handshake::initiator(const Secret& secret, const Claim& claim, const Nonce& nonce) {
  Handshake made(secret, nonce);
  made.claim_ = claim;
  const Bytes hello = made.hello_;
  put(hello, 0, kMagic);
  put16(hello.subspan(kVersionAt), kVersion);
  hello[kPurposeAt] = static_cast<std::byte>(claim.purpose);
  hello[kSocketAt] = static_cast<std::byte>(claim.socket);
  put32(hello.subspan(kFromAt), claim.from);
  put32(hello.subspan(kToAt), claim.to);
  put(hello, kJobAt, claim.job);
  put(hello, kNonceAt, nonce);
  made.send(hello);
  made.await(Awaits::answer);
  return made;
}

Handshake Handshake::acceptor(const Secret& secret) { return acceptor(secret, fresh_nonce()); }

Handshake Handshake::acceptor(const Secret& secret, const Nonce& nonce) {
  Handshake made(secret, nonce);
  made.await(Awaits::hello_start);
  return made;
}

ConstBytes Handshake::outgoing() const {
  return ConstBytes(outgoing_).subspan(outgoing_begin_, outgoing_end_ - outgoing_begin_);
}

void Handshake::sent(std::size_t bytes) {
  HCOMM_ASSERT(bytes <= outgoing_end_ - outgoing_begin_);
  outgoing_begin_ += bytes;
}

std::size_t Handshake::wants() const { return awaited().size() - filled_; }

void Handshake::receive(ConstBytes bytes) {
  HCOMM_ASSERT(bytes.size() <= wants());
  if (bytes.empty()) return;
  heard_ = true;
  const ConstBytes message = awaited();
  std::byte* const target = const_cast<std::byte*>(message.data());  // one of this object's own arrays
  std::ranges::copy(bytes, target + filled_);
  filled_ += bytes.size();
  if (filled_ == message.size()) step();
}

bool Handshake::heard() const { return heard_; }

void Handshake::accept() {
  HCOMM_ASSERT(state_ == State::asks);
  put_header(verdict_, Kind::verdict, Refusal::none);
  put(verdict_, kBodyAt, verdict_code(ConstBytes(verdict_).first(kHeaderBytes)));
  send(verdict_);
  state_ = State::done;
}

void Handshake::refuse(Refusal why) {
  HCOMM_ASSERT(why != Refusal::none);
  HCOMM_ASSERT(state_ == State::asks || (state_ == State::running && needs_no_code(why)));
  turn_away(why, state_ == State::asks);
}

Handshake::State Handshake::state() const {
  return state_ == State::done && !outgoing().empty() ? State::running : state_;
}

const Claim& Handshake::claim() const { return claim_; }

Refusal Handshake::refusal() const { return refusal_; }

bool Handshake::refused_by_peer() const { return refused_by_peer_; }

ConstBytes Handshake::awaited() const {
  switch (awaits_) {
    case Awaits::nothing: return {};
    case Awaits::hello_start: return ConstBytes(hello_).first(kHelloStartBytes);
    case Awaits::hello: return hello_;
    case Awaits::proof: return proof_;
    case Awaits::answer: return ConstBytes(challenge_).first(kHeaderBytes);
    case Awaits::challenge: return challenge_;
    case Awaits::early_refusal: return ConstBytes(challenge_).first(kVerdictBytes);
    case Awaits::verdict: return verdict_;
  }
  unreachable();
}

void Handshake::step() {
  switch (awaits_) {
    case Awaits::nothing: return;
    case Awaits::hello_start: return read_hello_start();
    case Awaits::hello: return read_hello();
    case Awaits::proof: return read_proof();
    case Awaits::answer: return read_answer();
    case Awaits::challenge: return read_challenge();
    case Awaits::early_refusal: return read_early_refusal();
    case Awaits::verdict: return read_verdict();
  }
}

// A stranger is told at once; the rest of the hello of another version is read, so that it gets to read why.
void Handshake::read_hello_start() {
  if (!std::ranges::equal(kMagic, ConstBytes(hello_).first(kMagic.size()))) return turn_away(Refusal::malformed, false);
  await(Awaits::hello);
}

void Handshake::read_hello() {
  const ConstBytes hello = hello_;
  if (get16(hello.subspan(kVersionAt)) != kVersion) return turn_away(Refusal::version, false);
  claim_.purpose = static_cast<Purpose>(hello[kPurposeAt]);
  claim_.socket = std::to_integer<std::uint8_t>(hello[kSocketAt]);
  claim_.from = get32(hello.subspan(kFromAt));
  claim_.to = get32(hello.subspan(kToAt));
  std::ranges::copy(hello.subspan(kJobAt, claim_.job.size()), claim_.job.begin());
  const bool known_purpose = claim_.purpose == Purpose::meeting || claim_.purpose == Purpose::link;
  const bool legal = known_purpose && claim_.from >= 0 && claim_.to >= 0 && all_zero(hello.subspan(kZeroAt, 4));
  if (!legal) return turn_away(Refusal::malformed, false);
  put_header(challenge_, Kind::challenge, Refusal::none);
  put(challenge_, kBodyAt, nonce_);
  put(challenge_, kBodyAt + nonce_.size(), acceptor_code());
  send(challenge_);
  await(Awaits::proof);
}

void Handshake::read_proof() {
  const ConstBytes proof = proof_;
  if (!is_of(proof, Kind::proof) || !of_this_version(proof)) return turn_away(Refusal::malformed, false);
  const bool refuses = refusal_in(proof) == Refusal::wrong_secret && all_zero(proof.subspan(kBodyAt));
  if (refuses) return fail(Refusal::wrong_secret, true);
  if (refusal_in(proof) != Refusal::none) return turn_away(Refusal::malformed, false);
  if (!same_code(proof.subspan(kBodyAt), initiator_code())) return turn_away(Refusal::wrong_secret, false);
  await(Awaits::nothing);
  state_ = State::asks;
}

void Handshake::read_answer() {
  if (is_of(ConstBytes(challenge_), Kind::challenge)) return await(Awaits::challenge);
  if (is_of(ConstBytes(challenge_), Kind::verdict)) return await(Awaits::early_refusal);
  fail(Refusal::malformed, false);
}

void Handshake::read_challenge() {
  const ConstBytes challenge = challenge_;
  if (!of_this_version(challenge)) return fail(Refusal::version, false);
  if (refusal_in(challenge) != Refusal::none) return fail(Refusal::malformed, false);
  const bool knows = same_code(challenge.subspan(kBodyAt + sizeof(Nonce)), acceptor_code());
  put_header(proof_, Kind::proof, knows ? Refusal::none : Refusal::wrong_secret);
  if (knows) put(proof_, kBodyAt, initiator_code());  // else the body is zeros: a liar learns nothing
  send(proof_);
  if (!knows) return fail(Refusal::wrong_secret, false);
  await(Awaits::verdict);
}

void Handshake::read_early_refusal() {
  const Refusal why = refusal_in(challenge_);
  const bool fits = needs_no_code(why) && all_zero(ConstBytes(challenge_).subspan(kBodyAt, sizeof(Code)));
  fail(fits ? why : Refusal::malformed, fits);
}

void Handshake::read_verdict() {
  const ConstBytes verdict = verdict_;
  const Refusal why = refusal_in(verdict);
  const ConstBytes code = verdict.subspan(kBodyAt);
  const bool coded = same_code(code, verdict_code(verdict.first(kHeaderBytes)));
  const bool fits = is_of(verdict, Kind::verdict) && of_this_version(verdict);
  if (!fits || !(coded || (needs_no_code(why) && all_zero(code)))) return fail(Refusal::malformed, false);
  if (why != Refusal::none) return fail(why, true);
  await(Awaits::nothing);
  state_ = State::done;
}

// What is already here of a longer message with the same beginning stays.
void Handshake::await(Awaits what) {
  const std::byte* const before = awaited().data();
  awaits_ = what;
  if (awaited().data() != before) filled_ = 0;
}

void Handshake::send(ConstBytes message) {
  HCOMM_ASSERT(message.size() <= outgoing_.size() - outgoing_end_ + outgoing_begin_);
  std::copy(outgoing_.begin() + static_cast<std::ptrdiff_t>(outgoing_begin_),
            outgoing_.begin() + static_cast<std::ptrdiff_t>(outgoing_end_), outgoing_.begin());
  outgoing_end_ -= outgoing_begin_;
  outgoing_begin_ = 0;
  put(outgoing_, outgoing_end_, message);
  outgoing_end_ += message.size();
}

// Only to whom has proved itself is the verdict coded.
void Handshake::turn_away(Refusal why, bool proved) {
  put_header(verdict_, Kind::verdict, why);
  if (proved) put(verdict_, kBodyAt, verdict_code(ConstBytes(verdict_).first(kHeaderBytes)));
  send(verdict_);
  fail(why, false);
}

void Handshake::fail(Refusal why, bool by_peer) {
  await(Awaits::nothing);
  state_ = State::failed;
  refusal_ = why;
  refused_by_peer_ = by_peer;
}

Code Handshake::acceptor_code() const {
  return code_of(secret_, {as_bytes(kAcceptorDomain), hello_, ConstBytes(challenge_).first(kBodyAt + sizeof(Nonce))});
}

Code Handshake::initiator_code() const { return code_of(secret_, {as_bytes(kInitiatorDomain), hello_, challenge_}); }

Code Handshake::verdict_code(ConstBytes header) const {
  return code_of(secret_, {as_bytes(kVerdictDomain), hello_, challenge_, proof_, header});
}

}  // namespace hcomm
