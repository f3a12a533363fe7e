// A connection whose other end is the test: it says what is in `to_say`, in pieces, and keeps what it is told.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "net/network.h"

namespace hcomm::testing {

class ScriptedStream final : public Stream {
 public:
  IoResult read(std::span<const Bytes> parts) override {
    if (pauses) {
      is_pausing_ = !is_pausing_;
      if (is_pausing_) return {Io::later, 0};
    }
    if (to_say.empty()) return {ends ? Io::end : Io::later, 0};
    std::size_t moved = 0;
    for (const Bytes& part : parts) {
      const ConstBytes here = to_say.first(std::min({read_piece - moved, part.size(), to_say.size()}));
      std::ranges::copy(here, part.begin());
      to_say = to_say.subspan(here.size());
      moved += here.size();
    }
    return {Io::moved, moved};
  }

  IoResult write(std::span<const ConstBytes> parts) override {
    if (write_piece == 0 || room == 0) return {Io::later, 0};
    std::size_t moved = 0;
    for (const ConstBytes& part : parts) {
      const ConstBytes here = part.first(std::min({write_piece - moved, room - moved, part.size()}));
      heard.insert(heard.end(), here.begin(), here.end());
      moved += here.size();
    }
    HCOMM_ASSERT(moved > 0);  // parts are never all empty
    if (room != SIZE_MAX) room -= moved;
    return {Io::moved, moved};
  }

  void set_watcher(Watcher&) override {}
  std::size_t unsent() const override { return 0; }
  bool connected() const override { return true; }
  Address peer() const override { return {}; }
  std::string failure() const override { return "none"; }
  bool refused() const override { return false; }

  ConstBytes to_say;  // borrowed
  std::vector<std::byte> heard;
  std::size_t read_piece = SIZE_MAX;   // the most of one read
  std::size_t write_piece = SIZE_MAX;  // of one write; 0: the other end takes nothing
  std::size_t room = SIZE_MAX;         // for all writes together; it takes no more
  bool pauses = false;                 // after each read there is one that brings nothing
  bool ends = false;                   // when all is said

 private:
  bool is_pausing_ = true;
};

}  // namespace hcomm::testing
