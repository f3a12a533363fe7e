#include "net/dialer.h"

#include <algorithm>
#include <utility>

namespace hcomm {

Dialer::Dialer(Network& network, const Secret& secret, const Claim& claim, DialPlan plan, Watcher& owner)
    : network_(network), secret_(secret), claim_(claim), plan_(std::move(plan)), owner_(owner), pause_(plan_.first_pause) {
  HCOMM_ASSERT(!plan_.addresses.empty());
  for (const Address& address : plan_.addresses) candidates_.push_back({address, "nothing yet"});
}

void Dialer::expire(TimeNs now) {
  if (state_ != State::dialing || now < deadline_) return;
  if (!std::exchange(has_begun_, true)) give_up_at_ = add_saturated(now, plan_.unreachable_after);
  if (greeting_ == nullptr) return begin(now);
  go_on(now);
}

TimeNs Dialer::limit(TimeNs deadline) const { return was_taken_ ? deadline : std::min(deadline, give_up_at_); }

void Dialer::ready() {
  if (state_ == State::dialing && greeting_ != nullptr) go_on(network_.clock().now());
}

TimeNs Dialer::next_time() const { return state_ == State::dialing ? deadline_ : kNever; }

// Tries the candidates from the next one on, until there is one that takes its time, or there are no more of them in this round.
void Dialer::begin(TimeNs now) {
  while (next_ < candidates_.size() && candidates_[next_].hopeless) ++next_;
  if (next_ == candidates_.size()) return look_after_round(now);
  Candidate& candidate = candidates_[next_++];
  Result<std::unique_ptr<Stream>> stream = network_.connect(candidate.address, *this);
  if (!stream.ok()) return end_attempt(std::string(stream.status().trail()), false, now);
  greeting_ = std::make_unique<Greeting>(std::move(stream).value(), Handshake::initiator(secret_, claim_));
  deadline_ = limit(add_saturated(now, plan_.attempt));
}

// First what has come, then the time: this end may have been busy, too.
void Dialer::go_on(TimeNs now) {
  const Handshake& handshake = greeting_->handshake();
  const bool had_heard = handshake.heard();
  greeting_->pump();
  was_taken_ = was_taken_ || greeting_->stream().connected();
  if (greeting_->done()) return become(State::connected);
  if (greeting_->over()) return judge_end(now);
  if (handshake.heard() && !had_heard) deadline_ = add_saturated(now, plan_.answer);
  if (!handshake.heard() && greeting_->stream().connected()) deadline_ = kNever;
  if (now >= deadline_) end_attempt(handshake.heard() ? "it began to answer and did not go on" : "no answer in time", false, now);
}

void Dialer::judge_end(TimeNs now) {
  const Refusal refusal = greeting_->handshake().refusal();
  if (greeting_->handshake().refused_by_peer()) refusal_ = refusal;
  const bool nobody_listens = !greeting_->stream().connected() && greeting_->stream().refused();
  const bool is_stranger = refusal != Refusal::none && refusal != Refusal::full;
  end_attempt(greeting_->why(), is_stranger || (nobody_listens && !plan_.keeps_trying), now);
}

void Dialer::end_attempt(std::string why, bool hopeless, TimeNs now) {
  Candidate& candidate = candidates_[next_ - 1];
  candidate.why = std::move(why);
  candidate.hopeless = hopeless;
  greeting_.reset();
  if (refusal_ == Refusal::duplicate) return become(State::failed);
  gave_up_ = !was_taken_ && now >= give_up_at_;
  if (gave_up_) return become(State::failed);
  begin(now);
}

void Dialer::look_after_round(TimeNs now) {
  const bool hope = std::ranges::any_of(candidates_, [](const Candidate& candidate) { return !candidate.hopeless; });
  if (!hope) return become(State::failed);
  next_ = 0;
  deadline_ = limit(add_saturated(now, pause_));
  pause_ = std::min(2 * pause_, plan_.longest_pause);
}

// The last thing that any function does, for the owner may destroy this.
void Dialer::become(State state) {
  state_ = state;
  owner_.ready();
}

std::unique_ptr<Stream> Dialer::take() {
  HCOMM_ASSERT(state_ == State::connected && greeting_ != nullptr);
  return greeting_->take();
}

std::string Dialer::story() const {
  std::string all;
  for (const Candidate& candidate : candidates_) {
    all += (all.empty() ? "" : "; ") + text(candidate.address) + ": " + candidate.why;
  }
  return all;
}

Status Dialer::failure() const { return Status::failure(hcommRemoteError, "no connection could be made: " + story()); }

}  // namespace hcomm
