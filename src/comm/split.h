// Communicators made from communicators.
#pragma once

#include <memory>

#include "base/status.h"
#include "comm/communicator.h"

namespace hcomm {

// Collective over the parent, which must be reserved by nobody. The ranks of one colour are a new communicator, in the order of
// their keys and, where keys are equal, of their ranks in the parent; null for who has HCOMM_SPLIT_NOCOLOR. The settings are the
// parent's. InvalidArgument for another negative colour, before anything is said to the others.
//
// The first rank of each colour serves a meeting like that of a unique id. What it tells the others over the parent is no secret:
// the meeting's secret is made of it and of one that all ranks of the parent have from their own meeting.
Result<std::unique_ptr<Communicator>> split(Communicator& parent, int colour, int key);

}  // namespace hcomm
