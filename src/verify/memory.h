// All memory that a trial touches, block by block: what each cell holds, and who touched it last.
//
// The caller's buffers are fresh in each call and hold one cell per chunk and block; scratch is fresh in each call; slots
// live as long as the communicator. Late bindings are resolved here: in place, and where an exposed buffer lies.
#pragma once

#include <optional>

#include "schedule/blocks.h"
#include "verify/access.h"
#include "verify/expression.h"

namespace hcomm {

struct Cell {
  Value value = kUnwritten;
  std::uint32_t block = 0;  // the block that it holds
  Format format = Format::element;
  Access write;
  Access read;                // since the write ...
  std::vector<Access> reads;  // ... and more such, by others
};

enum class Region : std::uint8_t { input, output, scratch, slot, record };

// A cell, and what people call it.
struct Spot {
  Cell* cell = nullptr;
  Region region = Region::input;
  std::uint32_t owner = 0;
  std::uint32_t index = 0;  // block, or unit
  std::uint32_t call = 0;   // input, output
  std::uint32_t chunk = 0;  // input, output
  std::uint32_t slot = 0;   // slot, record
};

// All units of one slot. Two calls may divide a slot into units of other sizes, so what is written in a call must
// come after all that was read there in earlier calls, whatever the unit.
struct SlotRoom {
  std::vector<Cell> units;
  std::uint32_t last_writing_call = 0;
  std::vector<Access> readers;  // since that call began to write: the last combine of each rank ...
  std::vector<Access> flights;  // ... and every send
  Cell record;                  // where the owner's exposed buffer lies in this epoch; its value is the epoch + 1
};

class Memory {
 public:
  explicit Memory(const Trial& trial);

  void begin_call(std::uint32_t rank, std::uint32_t call);
  void end_call(std::uint32_t rank);  // its scratch is gone

  // The i-th block of a slice which `rank` names in a chunk of a call. Nothing if that memory does not exist yet, because its
  // owner has not come to this call.
  std::optional<Spot> find(const Slice& slice, std::uint32_t i, std::uint32_t rank, std::uint32_t call, std::uint32_t chunk);

  // The caller's blocks. The call must have begun.
  Spot input(std::uint32_t owner, std::uint32_t call, std::uint32_t chunk, std::uint32_t block);
  Spot output(std::uint32_t owner, std::uint32_t call, std::uint32_t chunk, std::uint32_t block);

  SlotRoom& room(std::uint32_t owner, std::uint32_t slot) {
    return rooms_[owner * static_cast<std::size_t>(trial_.slots()) + slot];
  }
  bool has_begun(std::uint32_t owner, std::uint32_t call) const { return buffers_[call][owner].begun; }
  bool in_place(std::uint32_t rank, std::uint32_t call) const;
  bool windowed(std::uint32_t rank, std::uint32_t call) const;

 private:
  struct Buffers {
    bool begun = false;
    std::vector<Cell> input;
    std::vector<Cell> output;
  };

  std::size_t cells(std::uint32_t call) const;  // of one buffer, for a chunk
  std::size_t cell_index(Side side, std::uint32_t call, std::uint32_t chunk, std::uint32_t block) const;

  const Trial& trial_;
  std::vector<std::vector<Buffers>> buffers_;  // [call][rank]
  std::vector<std::vector<Cell>> scratch_;     // [rank]
  std::vector<SlotRoom> rooms_;                // [rank * slots + slot]
};

}  // namespace hcomm
