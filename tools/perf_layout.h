// Rows of `hcomm perf --mode latency|bandwidth|osu`: one size, and few columns, as users of the OSU micro-benchmarks know them.
// All calls are out of place.
#pragma once

#include <string>

#include "perf_measure.h"

namespace hcomm {

// Lines that begin with '#', after an empty one. Not for the table.
std::string layout_heading(const PerfOptions& options, const PerfCase& first, int ranks, const std::string& version);
std::string layout_row(PerfMode mode, const PerfCase& what, const PerfResult& result);

// The size that a row shows: in osu what one rank sends to (or gets from) one peer where each gets a part of its own, or what it
// contributes where all get the same; else that of the larger buffer.
std::size_t shown_bytes(PerfMode mode, const PerfCase& what);

// A case's bytes for a size that was asked for: the inverse of shown_bytes.
std::size_t case_bytes(PerfMode mode, Collective collective, int ranks, std::size_t size);

}  // namespace hcomm
