// The memory that hcommMemAlloc gives: windows, each a memory file of its own, so that peers can map it when they first need it.
//
//   Threads: any, all functions.
//   Fork:    a child has none of it; its pages are not there, and free_window refuses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/status.h"
#include "transport/peer_windows.h"

namespace hcomm {

// Zeroed, page aligned; bytes is at least 1. A page exists once it is touched, near the core that touched it first.
Result<void*> allocate_window(std::size_t bytes);

// Returns the pages at once, even if peers have them mapped: they then read zeros. InvalidArgument if it is not the start
// of a live window.
Status free_window(void* memory);

// The window in which all of [memory, memory + bytes) lies. Without live windows this is one load, and outside their
// hull three; otherwise a lock shared by readers. No allocation.
std::optional<WindowRef> find_window(const void* memory, std::size_t bytes);

}  // namespace hcomm
