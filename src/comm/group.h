// Groups of calls, per thread: between start and end calls are checked and recorded; the outermost end issues all of them or,
// if one was refused, none.
#pragma once

#include "base/status.h"
#include "comm/arguments.h"
#include "comm/vector_call.h"

namespace hcomm {

class Communicator;

// Whether this thread is inside a group.
bool in_group();

void group_start();

// Records a call; it must be in_group(). A refusal is returned here and again by the outermost end.
Status group_record(Communicator& communicator, const CollectiveCall& call);
Status group_record(Communicator& communicator, UnequalParts parts);  // of a V variant

// Refuses whatever cannot be part of a group (making or ending communicators), so that the end refuses all.
Status group_refuse(Status why);

// InvalidUsage outside a group. The outermost one runs what was recorded and waits for it.
Status group_end();

}  // namespace hcomm
