#include <string>

#include "kernels/sets.h"
#include "kernels/stores.h"

namespace hcomm {
namespace {

std::vector<std::string_view> names_that_run() {
  std::vector<std::string_view> names;
  for (const KernelSet& set : all_sets()) {
    if (set.runs_here()) names.push_back(set.name);
  }
  return names;
}

template <class Items, class NameOf>
std::string listed(const Items& items, NameOf name_of) {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += ", ";
    text += name_of(item);
  }
  return text;
}

Status refuse(std::string_view what, std::string_view given, const std::string& legal) {
  std::string text(what);
  text += " '";
  text += given;
  text += "'; legal here: ";
  text += legal;
  return Status::failure(hcommInvalidArgument, text);
}

const KernelSet* set_named(std::string_view name) {
  const KernelSet* best = nullptr;
  for (const KernelSet& set : all_sets()) {
    if (set.runs_here() && (name.empty() || set.name == name)) best = &set;
  }
  return best;
}

hcommDataType_t unsigned_of(hcommDataType_t dtype) {
  if (dtype == hcommInt8) return hcommUint8;
  if (dtype == hcommInt16) return hcommUint16;
  if (dtype == hcommInt32) return hcommUint32;
  return dtype == hcommInt64 ? hcommUint64 : dtype;
}

hcommRedOp_t logical(hcommRedOp_t op) {
  switch (op) {
    case hcommSum:
    case hcommMax:
    case hcommLor:
    case hcommBor:  return hcommLor;
    case hcommProd:
    case hcommMin:
    case hcommLand:
    case hcommBand: return hcommLand;
    case hcommLxor:
    case hcommBxor: return hcommLxor;
    case hcommAvg:  return hcommAvg;
  }
  return op;
}

}  // namespace

bool runs_everywhere() { return true; }

KernelKind same_bits(hcommDataType_t dtype, hcommRedOp_t op) {
  if (dtype == hcommBool) return {hcommUint8, logical(op)};
  const bool is_ordered = op == hcommMin || op == hcommMax || op == hcommAvg;
  return {is_ordered ? dtype : unsigned_of(dtype), op};
}

std::span<const std::string_view> kernel_sets() {
  static const std::vector<std::string_view> names = names_that_run();
  return names;
}

Result<CombineKernel> find_combine(hcommDataType_t dtype, hcommRedOp_t op, std::string_view set) {
  const KernelSet* const chosen = set_named(set);
  if (chosen == nullptr) {
    return refuse("no such set of kernels runs on this CPU:", set,
                  listed(kernel_sets(), [](std::string_view text) { return text; }));
  }
  if (element_bytes(dtype) == 0) {
    return refuse("there is no type with the number", std::to_string(static_cast<int>(dtype)),
                  listed(combine_types(), [](hcommDataType_t type) { return name(type); }));
  }
  if (!has_op(dtype, op)) {
    return refuse(std::string(name(dtype)) + " does not have the operation", name(op),
                  listed(combine_ops(dtype), [](hcommRedOp_t other) { return name(other); }));
  }
  for (const KernelFinder finder : chosen->finders) {
    if (finder == nullptr) continue;
    if (const CombineKernel kernel = finder(dtype, op)) return kernel;
  }
  unreachable();
}

void copy_bytes(void* target, const void* source, std::size_t bytes, Store store) noexcept {
  if (bytes == 0) return;
  put(static_cast<std::byte*>(target), static_cast<const std::byte*>(source), bytes, store);
  publish(store);
}

}  // namespace hcomm
