#include "comm/arguments.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "kernels/combine.h"
#include "schedule/binding.h"

namespace hcomm {
namespace {

Status refuse(const CollectiveCall& call, const std::string& what,
              std::source_location where = std::source_location::current()) {
  return Status::failure(hcommInvalidArgument, std::string(name(call.collective)) + ": " + what, where);
}

template <class Value>
std::string listed(std::span<const Value> values) {
  std::string text;
  for (const Value value : values) text += (text.empty() ? "" : ", ") + std::string(name(value));
  return text;
}

Status check_type_and_op(const CollectiveCall& call) {
  if (element_bytes(call.dtype) == 0) {
    return refuse(call, "dtype " + std::to_string(static_cast<int>(call.dtype)) + " names no hcommDataType_t");
  }
  if (!reduces(call.collective) || has_op(call.dtype, call.op)) return {};
  if (std::ranges::find(combine_ops(), call.op) == combine_ops().end()) {
    return refuse(call, "op " + std::to_string(static_cast<int>(call.op)) + " names no hcommRedOp_t; legal are " +
                            listed(combine_ops()));
  }
  return refuse(call, "op " + std::string(name(call.op)) + " is not defined for dtype " + std::string(name(call.dtype)) +
                          "; legal for it are " + listed(combine_ops(call.dtype)));
}

struct NamedRegion : Region {
  const char* name;
};

// In place is exact: the same pointer, or the rank's own part of the larger buffer. `part` is the larger one, if any.
Status check_overlap(const CollectiveCall& call, const NamedRegion& send, const NamedRegion& recv, int rank) {
  if (!send.overlaps(recv)) return {};
  const NamedRegion& larger = send.bytes >= recv.bytes ? send : recv;
  const NamedRegion& smaller = send.bytes >= recv.bytes ? recv : send;
  const std::uintptr_t own = send.bytes == recv.bytes ? larger.begin
                                                      : larger.begin + static_cast<std::size_t>(rank) * smaller.bytes;
  if (smaller.begin == own) return {};
  return refuse(call, "send and recv overlap in part; legal are buffers apart from each other, or in place with " +
                          std::string(smaller.name) + " == " + larger.name +
                          (send.bytes == recv.bytes ? "" : " + rank * count elements"));
}

Status check_buffers(const CollectiveCall& call, int rank, int ranks) {
  const bool reads_send = has_input(call.collective, rank == call.root);
  const bool writes_recv = has_output(call.collective, rank == call.root);
  const std::size_t part = call.count * element_bytes(call.dtype);
  if (reads_send && call.send == nullptr) return refuse(call, "send is NULL, and count is not 0");
  if (writes_recv && call.recv == nullptr) return refuse(call, "recv is NULL, and count is not 0");
  if (!reads_send || !writes_recv) return {};
  const auto bytes = [&](Side side) { return part * static_cast<std::size_t>(parts_of(call.collective, side, ranks)); };
  const NamedRegion send{{reinterpret_cast<std::uintptr_t>(call.send), bytes(Side::input)}, "send"};
  const NamedRegion recv{{reinterpret_cast<std::uintptr_t>(call.recv), bytes(Side::output)}, "recv"};
  return check_overlap(call, send, recv, rank);
}

}  // namespace

Status check_kind(const CollectiveCall& call, int ranks) {
  if (call.collective == Collective::barrier) return {};
  if (Status status = check_type_and_op(call); !status.ok()) return status;
  if (has_root(call.collective) && (call.root < 0 || call.root >= ranks)) {
    return refuse(call, "root " + std::to_string(call.root) + " is no rank; legal are 0 to " + std::to_string(ranks - 1));
  }
  return {};
}

Status check_arguments(const CollectiveCall& call, int rank, int ranks) {
  if (Status status = check_kind(call, ranks); !status.ok()) return status;
  if (call.collective == Collective::barrier) return {};
  if (call.unequal != nullptr) return {};  // vector_call.h has looked at the rest
  const std::size_t parts = is_strided(call.collective) ? static_cast<std::size_t>(ranks) : 1;
  const std::size_t most = static_cast<std::size_t>(PTRDIFF_MAX) / element_bytes(call.dtype) / parts;
  if (call.count > most) {
    return refuse(call, "count " + std::to_string(call.count) + " of " + std::string(name(call.dtype)) +
                            " is more than memory can hold; the most is " + std::to_string(most));
  }
  return call.count == 0 ? Status() : check_buffers(call, rank, ranks);
}

}  // namespace hcomm
