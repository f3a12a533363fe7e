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

template <class Item>
bool has(std::span<const Item> items, Item wanted) {
  for (const Item item : items) {
    if (item == wanted) return true;
  }
  return false;
}

}  // namespace

bool runs_everywhere() { return true; }

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
  if (!has(combine_types(), dtype)) {
    return refuse("this version does not combine the type", name(dtype),
                  listed(combine_types(), [](hcommDataType_t type) { return name(type); }));
  }
  if (!has(combine_ops(), op)) {
    return refuse("this version does not combine by the operation", name(op),
                  listed(combine_ops(), [](hcommRedOp_t other) { return name(other); }));
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
