#include "net/handshake.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace hcomm {
namespace {

using Message = std::vector<std::byte>;
using State = Handshake::State;

Secret secret_of(int number) {
  Secret secret{};
  secret[5] = static_cast<std::byte>(number);
  return secret;
}

Claim sample_claim() {
  Claim claim{.purpose = Purpose::link, .socket = 3, .from = 7, .to = 70000};
  claim.job[15] = std::byte{9};
  return claim;
}

// What an end has to say, taken off it.
Message said_by(Handshake& end) {
  const ConstBytes bytes = end.outgoing();
  Message message(bytes.begin(), bytes.end());
  end.sent(message.size());
  return message;
}

// As a stream hands it over: never more than is wanted. Returns what was not wanted.
std::size_t tell(Handshake& end, ConstBytes bytes, std::size_t at_once = 1000) {
  while (!bytes.empty() && end.wants() > 0) {
    const std::size_t taken = std::min({bytes.size(), end.wants(), at_once});
    end.receive(bytes.first(taken));
    bytes = bytes.subspan(taken);
  }
  return bytes.size();
}

struct Pair {
  Handshake initiator = Handshake::initiator(secret_of(1), sample_claim(), Nonce{std::byte{1}});
  Handshake acceptor = Handshake::acceptor(secret_of(1), Nonce{std::byte{2}});
};

// The messages of a conversation, in their order. `change` may change one on its way; the other end's answer decides.
template <class Change>
Pair converse(Pair pair, Change change) {
  for (int number = 0; number < 4; ++number) {
    Handshake& speaker = number % 2 == 0 ? pair.initiator : pair.acceptor;
    Handshake& hearer = number % 2 == 0 ? pair.acceptor : pair.initiator;
    Message message = said_by(speaker);
    change(number, message);
    tell(hearer, message);
    if (pair.acceptor.state() == State::asks) pair.acceptor.accept();
  }
  return pair;
}

Pair converse(Pair pair) {
  return converse(std::move(pair), [](int, Message&) {});
}

std::vector<Message> recorded() {
  std::vector<Message> messages;
  converse(Pair{}, [&](int, Message& message) { messages.push_back(message); });
  return messages;
}

}  // namespace

TEST_CASE("two holders of the secret accept each other, and the acceptor learns the claim") {
  const Pair pair = converse(Pair{});
  CHECK(pair.initiator.state() == State::done);
  CHECK(pair.acceptor.state() == State::done);
  CHECK(pair.acceptor.claim() == sample_claim());
  CHECK(pair.initiator.wants() == 0);
  CHECK(pair.acceptor.wants() == 0);
}

TEST_CASE("the messages have the sizes that docs/wire_format.md gives") {
  std::vector<std::size_t> sizes;
  for (const Message& message : recorded()) sizes.push_back(message.size());
  CHECK(sizes == std::vector<std::size_t>{72, 72, 40, 40});
}

TEST_CASE("byte by byte, and moved in between, it goes as well") {
  Pair pair;
  for (int number = 0; number < 4; ++number) {
    Pair moved = std::move(pair);
    Handshake& speaker = number % 2 == 0 ? moved.initiator : moved.acceptor;
    Handshake& hearer = number % 2 == 0 ? moved.acceptor : moved.initiator;
    while (!speaker.outgoing().empty()) {
      const std::byte next = speaker.outgoing().front();
      speaker.sent(1);
      CHECK(tell(hearer, ConstBytes(&next, 1)) == 0);
      Handshake copy = std::move(hearer);
      hearer = std::move(copy);
    }
    if (moved.acceptor.state() == State::asks) moved.acceptor.accept();
    pair = std::move(moved);
  }
  CHECK(pair.initiator.state() == State::done);
  CHECK(pair.acceptor.state() == State::done);
}

TEST_CASE("nothing behind the handshake is taken, and an acceptor is done when its verdict is sent") {
  Pair pair;
  tell(pair.acceptor, said_by(pair.initiator));
  tell(pair.initiator, said_by(pair.acceptor));
  Message proof = said_by(pair.initiator);
  proof.resize(proof.size() + 100);
  CHECK(tell(pair.acceptor, proof) == 100);
  CHECK(pair.acceptor.state() == State::asks);
  pair.acceptor.accept();
  CHECK(pair.acceptor.state() == State::running);
  Message verdict = said_by(pair.acceptor);
  CHECK(pair.acceptor.state() == State::done);
  verdict.resize(verdict.size() + 100);
  CHECK(tell(pair.initiator, verdict) == 100);
  CHECK(pair.initiator.state() == State::done);
}

TEST_CASE("an end that has heard something says so") {
  Pair pair;
  CHECK_FALSE(pair.initiator.heard());
  const std::byte first{2};
  pair.initiator.receive(ConstBytes(&first, 1));
  CHECK(pair.initiator.heard());
}

TEST_CASE("every flipped bit of every message is refused") {
  const std::vector<Message> messages = recorded();
  for (int flipped = 0; flipped < 4; ++flipped) {
    for (std::size_t bit = 0; bit < messages[static_cast<std::size_t>(flipped)].size() * 8; ++bit) {
      const Pair pair = converse(Pair{}, [&](int number, Message& message) {
        if (number == flipped && bit / 8 < message.size()) message[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
      });
      INFO("message " << flipped << " bit " << bit);
      CHECK(pair.initiator.state() == State::failed);
      CHECK(pair.initiator.refusal() != Refusal::none);
      // Of a verdict that was changed only the initiator can know; it closes the connection.
      if (flipped != 3) CHECK(pair.acceptor.state() != State::done);
    }
  }
}

TEST_CASE("of a truncated message nothing follows") {
  const std::vector<Message> messages = recorded();
  for (int cut = 0; cut < 4; ++cut) {
    for (std::size_t length = 0; length < messages[static_cast<std::size_t>(cut)].size(); ++length) {
      const Pair pair = converse(Pair{}, [&](int number, Message& message) {
        if (number >= cut) message.resize(number == cut ? length : 0);
      });
      CHECK(pair.initiator.state() == State::running);
      CHECK(pair.acceptor.state() == (cut == 3 ? State::done : State::running));
      CHECK((pair.initiator.wants() > 0 || pair.acceptor.wants() > 0));
    }
  }
}

TEST_CASE("a recorded hello and proof do not open another connection") {
  const std::vector<Message> messages = recorded();
  Handshake acceptor = Handshake::acceptor(secret_of(1));  // another nonce, by chance
  tell(acceptor, messages[0]);
  said_by(acceptor);
  tell(acceptor, messages[2]);
  CHECK(acceptor.state() == State::failed);
  CHECK(acceptor.refusal() == Refusal::wrong_secret);
}

TEST_CASE("a recorded challenge and verdict do not fool another initiator") {
  const std::vector<Message> messages = recorded();
  Handshake initiator = Handshake::initiator(secret_of(1), sample_claim());
  said_by(initiator);
  CHECK(tell(initiator, messages[1]) == 0);
  CHECK(initiator.state() == State::failed);
  CHECK(initiator.refusal() == Refusal::wrong_secret);
  CHECK_FALSE(initiator.refused_by_peer());
}

TEST_CASE("an initiator gives no code to whom has shown none") {
  Handshake initiator = Handshake::initiator(secret_of(1), sample_claim());
  said_by(initiator);
  Message challenge = recorded()[1];
  std::fill(challenge.begin() + 40, challenge.end(), std::byte{0});
  tell(initiator, challenge);
  const Message answer = said_by(initiator);
  REQUIRE(answer.size() == 40);
  CHECK(std::all_of(answer.begin() + 8, answer.end(), [](std::byte value) { return value == std::byte{0}; }));
}

TEST_CASE("what an acceptor said is worth nothing when it comes back") {
  SECTION("its challenge's code as a proof") {
    Pair pair;
    tell(pair.acceptor, said_by(pair.initiator));
    const Message challenge = said_by(pair.acceptor);
    Message proof = recorded()[2];
    std::copy(challenge.begin() + 40, challenge.end(), proof.begin() + 8);
    tell(pair.acceptor, proof);
    CHECK(pair.acceptor.state() == State::failed);
  }
  SECTION("a challenge to another acceptor of the same secret, which is asked to answer it as a hello") {
    Handshake other = Handshake::acceptor(secret_of(1));
    tell(other, recorded()[1]);
    CHECK(other.state() == State::failed);
    CHECK(other.refusal() == Refusal::malformed);
  }
  SECTION("an initiator's own hello") {
    Handshake initiator = Handshake::initiator(secret_of(1), sample_claim());
    tell(initiator, said_by(initiator));
    CHECK(initiator.state() == State::failed);
    CHECK(initiator.refusal() == Refusal::malformed);
  }
  SECTION("an initiator's own proof as a verdict") {
    Pair pair;
    tell(pair.acceptor, said_by(pair.initiator));
    tell(pair.initiator, said_by(pair.acceptor));
    Message proof = said_by(pair.initiator);
    proof[0] = std::byte{4};
    tell(pair.initiator, proof);
    CHECK(pair.initiator.state() == State::failed);
  }
}

TEST_CASE("a wrong secret is named on both sides, whoever has it") {
  const Pair pair = converse(Pair{.initiator = Handshake::initiator(secret_of(2), sample_claim())});
  CHECK(pair.initiator.state() == State::failed);
  CHECK(pair.initiator.refusal() == Refusal::wrong_secret);
  CHECK_FALSE(pair.initiator.refused_by_peer());
  CHECK(pair.acceptor.state() == State::failed);
  CHECK(pair.acceptor.refusal() == Refusal::wrong_secret);
  CHECK(pair.acceptor.refused_by_peer());
  CHECK_THAT(std::string(text(pair.acceptor.refusal())), Catch::Contains("the secrets differ"));
}

TEST_CASE("an initiator that only claims to know the secret is named on both sides") {
  // A forger that takes the acceptor's code for granted.
  const Pair pair = converse(Pair{}, [](int number, Message& message) {
    if (number == 2) std::fill(message.begin() + 8, message.end(), std::byte{0x55});
  });
  CHECK(pair.acceptor.refusal() == Refusal::wrong_secret);
  CHECK_FALSE(pair.acceptor.refused_by_peer());
  CHECK(pair.initiator.refusal() == Refusal::wrong_secret);
  CHECK(pair.initiator.refused_by_peer());
}

TEST_CASE("a refusal of whom has proved itself arrives as it was meant") {
  for (const Refusal why : {Refusal::wrong_job, Refusal::duplicate, Refusal::full, Refusal::gone}) {
    Pair pair;
    tell(pair.acceptor, said_by(pair.initiator));
    tell(pair.initiator, said_by(pair.acceptor));
    tell(pair.acceptor, said_by(pair.initiator));
    REQUIRE(pair.acceptor.state() == State::asks);
    pair.acceptor.refuse(why);
    tell(pair.initiator, said_by(pair.acceptor));
    CHECK(pair.initiator.state() == State::failed);
    CHECK(pair.initiator.refusal() == why);
    CHECK(pair.initiator.refused_by_peer());
    CHECK(pair.acceptor.state() == State::failed);
    CHECK_FALSE(pair.acceptor.refused_by_peer());
  }
}

TEST_CASE("a full acceptor says so at any time before the proof") {
  for (int heard = 0; heard < 2; ++heard) {
    Pair pair;
    if (heard == 1) tell(pair.acceptor, said_by(pair.initiator));
    pair.acceptor.refuse(Refusal::full);
    tell(pair.initiator, said_by(pair.acceptor));
    CHECK(pair.initiator.refusal() == Refusal::full);
    CHECK(pair.initiator.refused_by_peer());
  }
}

TEST_CASE("refusals that only a holder of the secret may utter need its code") {
  for (const Refusal why : {Refusal::none, Refusal::wrong_job, Refusal::duplicate}) {
    for (const int at : {1, 3}) {
      const Pair pair = converse(Pair{}, [&](int number, Message& message) {
        if (number != at) return;
        message.assign(40, std::byte{0});
        message[0] = std::byte{4};
        message[1] = static_cast<std::byte>(why);
        message[2] = std::byte{1};
      });
      CHECK(pair.initiator.state() == State::failed);
      CHECK(pair.initiator.refusal() == Refusal::malformed);
    }
  }
}

TEST_CASE("another version is named on both sides, and is read to its end") {
  const Pair pair = converse(Pair{}, [](int number, Message& message) {
    if (number == 0) message[8] = std::byte{2};
  });
  CHECK(pair.acceptor.refusal() == Refusal::version);
  CHECK(pair.initiator.refusal() == Refusal::version);
  CHECK(pair.initiator.refused_by_peer());
}

TEST_CASE("strangers are refused after their first 16 bytes") {
  for (const std::string& opening : {std::string("GET / HTTP/1.1\r\nHost: node7\r\n"), std::string(100, '\0'),
                                     std::string(100, '\xff'), std::string("SSH-2.0-OpenSSH_9.2p1\r\n")}) {
    Handshake acceptor = Handshake::acceptor(secret_of(1));
    const std::size_t left = tell(acceptor, as_bytes(opening));
    CHECK(opening.size() - left == 16);
    CHECK(acceptor.refusal() == Refusal::malformed);
    CHECK(acceptor.outgoing().size() == 40);
    CHECK(acceptor.wants() == 0);
  }
}

TEST_CASE("claims that cannot be are malformed") {
  const auto refusal_of = [](const Claim& claim) {
    Handshake initiator = Handshake::initiator(secret_of(1), claim);
    Handshake acceptor = Handshake::acceptor(secret_of(1));
    tell(acceptor, said_by(initiator));
    return acceptor.refusal();
  };
  CHECK(refusal_of(sample_claim()) == Refusal::none);
  Claim claim = sample_claim();
  claim.from = -1;
  CHECK(refusal_of(claim) == Refusal::malformed);
  claim = sample_claim();
  claim.to = INT32_MIN;
  CHECK(refusal_of(claim) == Refusal::malformed);
  claim = sample_claim();
  claim.purpose = static_cast<Purpose>(3);
  CHECK(refusal_of(claim) == Refusal::malformed);
}

TEST_CASE("each refusal says what is wrong and most of them what to do") {
  std::vector<std::string_view> texts;
  for (int number = 1; number <= 7; ++number) texts.push_back(text(static_cast<Refusal>(number)));
  for (const std::string_view one : texts) {
    CHECK(std::ranges::count(texts, one) == 1);
    CHECK(one != "unknown refusal");
  }
  CHECK(text(static_cast<Refusal>(8)) == "unknown refusal");
}

}  // namespace hcomm
