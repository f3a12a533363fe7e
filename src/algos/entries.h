// What each file of this room adds to the table: one entry per collective, in the order of kCollectives.
#pragma once

#include <array>

#include "algos/algorithm.h"

namespace hcomm {

using Family = std::array<Algorithm, kCollectives.size()>;

extern const Family kFlat;
extern const Family kDirect;
extern const Family kRing;
extern const Family kRecursiveDoubling;

}  // namespace hcomm
