// A host that writes down who came, for the tests of Acceptor and Dialer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "net/acceptor.h"
#include "net/rig.h"

namespace hcomm {

class RecordingHost final : public Host {
 public:
  Refusal judge(const Claim& claim) override {
    judged.push_back(claim);
    return verdict;
  }
  void arrived(const Claim& claim, std::unique_ptr<Stream> stream) override {
    stream->set_watcher(watcher);
    guests.emplace_back(claim, std::move(stream));
  }
  void lost(const Claim& claim) override { gone.push_back(claim); }
  void report(std::string_view line) override { lines.emplace_back(line); }

  Refusal verdict = Refusal::none;
  std::vector<Claim> judged;
  std::vector<Claim> gone;
  std::vector<std::string> lines;
  CountingWatcher watcher;
  std::vector<std::pair<Claim, std::unique_ptr<Stream>>> guests;
};

inline Claim claim_of(int from, int to = 0) {
  Claim claim{.purpose = Purpose::link, .from = from, .to = to};
  claim.job[0] = std::byte{7};
  return claim;
}

inline Secret test_secret(int number = 1) {
  Secret secret{};
  secret[0] = static_cast<std::byte>(number);
  return secret;
}

}  // namespace hcomm
