// Inputs whose results are exact in any order of evaluation, and what those results are, for every type and operation; by
// plain C++ that knows nothing of the kernels.
//
// Integers use all their bits. Floats are small whole numbers (powers of two for products), so that sums of up to 16
// ranks stay exact even in bfloat16 (8 bits of mantissa: up to 256); among them are signed zeros, infinities and NaNs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/arguments.h"
#include "schedule/blocks.h"

namespace hcomm::testing {

// Changes all contributions, of this thread: with another number for each call, what an earlier call left behind is wrong.
void set_salt(std::uint64_t salt);

// How many elements send and recv have, where they are passed.
std::size_t send_elements(const CollectiveCall& call, int ranks);
std::size_t recv_elements(const CollectiveCall& call, int ranks);

// In a call that is in place, in which part of the larger buffer that side lies.
std::size_t part_in_place(const CollectiveCall& call, Side side, int rank);

// What rank's send buffer holds, and what its recv buffer must hold afterwards.
std::vector<std::byte> make_input(const CollectiveCall& call, int rank, int ranks);
std::vector<std::byte> expected_output(const CollectiveCall& call, int rank, int ranks);

}  // namespace hcomm::testing
