#include <hcomm/hcomm.h>

#include "api/boundary.h"
#include "api/handles.h"

extern "C" {

hcommResult_t hcommGetVersion(int* version) {
  return hcomm::boundary([&]() -> hcomm::Status {
    if (version == nullptr) return hcomm::Status::failure(hcommInvalidArgument, "version is NULL: it is where the answer goes");
    *version = 100;
    return {};
  });
}

const char* hcommGetErrorString(hcommResult_t result) {
  switch (result) {
    case hcommSuccess:         return "success";
    case hcommSystemError:     return "the operating system refused";
    case hcommInternalError:   return "internal error of hcomm";
    case hcommInvalidArgument: return "invalid argument";
    case hcommInvalidUsage:    return "invalid usage";
    case hcommRemoteError:     return "a peer died or failed";
    case hcommInProgress:      return "in progress";
    case hcommTimeout:         return "timed out";
    case hcommMismatch:        return "the ranks' calls do not fit each other";
    case hcommAborted:         return "aborted";
    case hcommOutOfMemory:     return "out of memory";
  }
  return "no code of hcomm";
}

const char* hcommGetLastError(hcommComm_t comm) {
  if (comm == nullptr) return hcomm::last_error::text();
  hcomm::Communicator* const communicator = hcomm::find_communicator(comm);
  if (communicator == nullptr) return "comm is no communicator of this process, or was destroyed";
  try {
    return hcomm::last_error::lend(communicator->failure_text());
  } catch (...) {
    return "out of memory while telling the error";
  }
}

}  // extern "C"
