// How each connection begins: both ends show that they hold the job's secret, and what they are to each other, before anything
// else is parsed. Pure: bytes in, bytes out; no socket, no clock. docs/wire_format.md gives the bytes and says against what.
//
//   initiator                                acceptor
//      |-- hello: claim, nonce ----------------->|
//      |<---- challenge: nonce, code of the acceptor, over both nonces and the claim --|
//      |-- proof: code of the initiator -------->|
//      |<---- verdict: accepted, or a refusal ----|
//
// All messages have fixed sizes; nothing a peer sends sizes an allocation. A refusal that comes before the proof is not
// authenticated: it ends this connection, and says why in words, but proves nothing about the job. The initiator sends its proof
// to nobody but a holder of the secret.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"
#include "net/mac.h"

namespace hcomm {

inline constexpr TimeNs kHandshakeDeadline = 2 * kSecond;  // of an acceptor: from the connection to the proof

using Nonce = std::array<std::byte, 32>;

enum class Purpose : std::uint8_t {
  meeting = 1,  // to the coordinator of a job (bootstrap)
  link = 2,     // between two ranks (transport)
};

// What an initiator says it is, and to whom it wants to speak. Authenticated by the proof.
struct Claim {
  std::array<std::byte, 16> job{};  // its name; no secret
  Purpose purpose = Purpose::link;
  std::uint8_t socket = 0;  // which of several between the same two ranks
  std::int32_t from = 0;    // rank
  std::int32_t to = 0;      // rank; of a meeting 0

  friend bool operator==(const Claim&, const Claim&) = default;
};

enum class Refusal : std::uint8_t {
  none = 0,
  malformed = 1,     // not this protocol
  version = 2,       // of another version of it
  wrong_job = 3,     // nobody of that job, that rank or that purpose is here
  wrong_secret = 4,  // the code does not match
  duplicate = 5,     // there is such a connection already, or the other end's is preferred
  full = 6,          // too many at once
  gone = 7,          // the initiator counts as dead here
};
std::string_view text(Refusal refusal);  // "the secrets differ: ..." and what to do

class Handshake {
 public:
  enum class State : std::uint8_t {
    running,
    asks,    // acceptor: the claim is proved; answer with accept() or refuse()
    done,    // both ends have proved themselves and all is sent; what follows on the stream is the caller's
    failed,  // close the stream, once outgoing() is empty
  };

  // The nonce comes from the system's random numbers; tests pass one.
  static Handshake initiator(const Secret& secret, const Claim& claim);
  static Handshake initiator(const Secret& secret, const Claim& claim, const Nonce& nonce);
  static Handshake acceptor(const Secret& secret);
  static Handshake acceptor(const Secret& secret, const Nonce& nonce);

  // What is to be sent now; empty if nothing. sent() takes it off.
  ConstBytes outgoing() const;
  void sent(std::size_t bytes);

  // How many bytes may be read now: never more than the message under way still needs, so that nothing behind the handshake is
  // taken. 0 when none is awaited.
  std::size_t wants() const;
  void receive(ConstBytes bytes);  // at most wants()
  bool heard() const;              // anything yet, of the other end

  void accept();
  void refuse(Refusal why);

  State state() const;
  const Claim& claim() const;  // acceptor: of the other end, from `asks` on
  Refusal refusal() const;     // of a failed one, by either end
  bool refused_by_peer() const;

 private:
  // What the next bytes are; what there is to do when all of them are here.
  enum class Awaits : std::uint8_t { nothing, hello_start, hello, proof, answer, challenge, early_refusal, verdict };

  Handshake(const Secret& secret, const Nonce& nonce) : secret_(secret), nonce_(nonce) {}
  ConstBytes awaited() const;  // the message under way, as far as it is needed to go on
  void step();
  void read_hello_start();
  void read_hello();
  void read_proof();
  void read_answer();
  void read_challenge();
  void read_early_refusal();
  void read_verdict();
  void await(Awaits what);
  void send(ConstBytes message);
  void turn_away(Refusal why, bool proved);
  void fail(Refusal why, bool by_peer);
  Code acceptor_code() const;
  Code initiator_code() const;
  Code verdict_code(ConstBytes header) const;

  static constexpr std::size_t kHeaderBytes = 8;
  static constexpr std::size_t kHelloStartBytes = 16;
  static constexpr std::size_t kHelloBytes = 72;
  static constexpr std::size_t kChallengeBytes = kHeaderBytes + sizeof(Nonce) + sizeof(Code);
  static constexpr std::size_t kProofBytes = kHeaderBytes + sizeof(Code);
  static constexpr std::size_t kVerdictBytes = kHeaderBytes + sizeof(Code);

  Secret secret_;
  Nonce nonce_;
  Claim claim_;
  State state_ = State::running;
  Awaits awaits_ = Awaits::nothing;
  Refusal refusal_ = Refusal::none;
  bool refused_by_peer_ = false;
  bool heard_ = false;

  // The conversation so far; each code covers all that came before it.
  std::array<std::byte, kHelloBytes> hello_{};
  std::array<std::byte, kChallengeBytes> challenge_{};
  std::array<std::byte, kProofBytes> proof_{};
  std::array<std::byte, kVerdictBytes> verdict_{};
  std::size_t filled_ = 0;  // of the message under way

  // Two messages at most, for whoever answers has heard the one before.
  std::array<std::byte, kHelloBytes + kProofBytes> outgoing_{};
  std::size_t outgoing_begin_ = 0;
  std::size_t outgoing_end_ = 0;
};

}  // namespace hcomm
