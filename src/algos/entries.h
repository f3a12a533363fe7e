// What each file of this room adds to the table: one entry for each collective that it is written for.
#pragma once

#include <array>

#include "algos/algorithm.h"

namespace hcomm {

template <std::size_t entries>
using Family = std::array<Algorithm, entries>;

extern const Family<9> kFlat;
extern const Family<9> kDirect;
extern const Family<6> kRing;
extern const Family<8> kRecursiveDoubling;
extern const Family<5> kHalvingDoubling;
extern const Family<3> kTree;
extern const Family<3> kPairwise;

}  // namespace hcomm
