// Rooms: base, net
//
// The first byte says what the rest is: changes of the messages of a right conversation, each byte one of bits to be flipped, or
// all that one end hears, in pieces. Nobody who lacks the secret, and no changed message, may bring an end to `asks` or `done`.
#include "net/handshake.h"

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "fuzz/fuzz.h"

namespace hcomm {
namespace {

using State = Handshake::State;

const Claim kClaim{.purpose = Purpose::link, .socket = 1, .from = 2, .to = 3};
const Secret kSecret{std::byte{42}};

void check_bounds(const Handshake& end) {
  HCOMM_ASSERT(end.wants() <= 72);
  HCOMM_ASSERT(end.outgoing().size() <= 112);
  if (end.state() == State::failed) HCOMM_ASSERT(end.refusal() != Refusal::none);
  if (end.state() != State::running) HCOMM_ASSERT(end.wants() == 0);
}

// All that the speaker has to say, changed; returns whether anything was.
bool deliver(Handshake& speaker, Handshake& hearer, ConstBytes& changes) {
  bool changed = false;
  while (!speaker.outgoing().empty()) {
    std::byte byte = speaker.outgoing().front();
    speaker.sent(1);
    if (!changes.empty()) {
      byte ^= changes.front();
      changed = changed || changes.front() != std::byte{0};
      changes = changes.subspan(1);
    }
    if (hearer.wants() > 0) hearer.receive(ConstBytes(&byte, 1));
    check_bounds(hearer);
  }
  return changed;
}

void converse(ConstBytes changes, Refusal verdict) {
  Handshake initiator = Handshake::initiator(kSecret, kClaim, Nonce{std::byte{1}});
  Handshake acceptor = Handshake::acceptor(kSecret, Nonce{std::byte{2}});
  bool before_proof = deliver(initiator, acceptor, changes);
  before_proof = deliver(acceptor, initiator, changes) || before_proof;
  before_proof = deliver(initiator, acceptor, changes) || before_proof;
  HCOMM_ASSERT((acceptor.state() == State::asks) == !before_proof);
  if (acceptor.state() == State::asks) {
    HCOMM_ASSERT(acceptor.claim() == kClaim);
    verdict == Refusal::none ? acceptor.accept() : acceptor.refuse(verdict);
  }
  const bool changed = deliver(acceptor, initiator, changes) || before_proof;
  HCOMM_ASSERT((initiator.state() == State::done) == (!changed && verdict == Refusal::none));
  if (!changed && verdict != Refusal::none) HCOMM_ASSERT(initiator.refusal() == verdict && initiator.refused_by_peer());
}

void hear(Handshake end, ConstBytes bytes, std::size_t piece) {
  while (!bytes.empty() && end.wants() > 0) {
    const std::size_t taken = std::min({bytes.size(), end.wants(), piece});
    end.receive(bytes.first(taken));
    bytes = bytes.subspan(taken);
    end.sent(std::min(end.outgoing().size(), piece));
    check_bounds(end);
    HCOMM_ASSERT(end.state() == State::running || end.state() == State::failed);
  }
}

void run(std::uint8_t first, ConstBytes rest) {
  const std::size_t piece = 1 + first / 4;
  switch (first % 4) {
    case 0: converse(rest, Refusal::none); break;
    case 1: converse(rest, static_cast<Refusal>(first / 4 % 7)); break;
    case 2: hear(Handshake::acceptor(kSecret, Nonce{std::byte{3}}), rest, piece); break;
    case 3: hear(Handshake::initiator(kSecret, kClaim, Nonce{std::byte{3}}), rest, piece); break;
  }
}

}  // namespace
}  // namespace hcomm

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) hcomm::run(data[0], hcomm::bytes_of(data + 1, size - 1));
  return 0;
}
