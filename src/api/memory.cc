#include <hcomm/hcomm.h>

#include "api/boundary.h"
#include "transport/local_memory.h"

extern "C" {

hcommResult_t hcommMemAlloc(void** memory, size_t bytes) {
  return hcomm::boundary([&]() -> hcomm::Status {
    if (memory == nullptr) return hcomm::Status::failure(hcommInvalidArgument, "memory is NULL: it is where the answer goes");
    *memory = nullptr;
    if (bytes == 0) return {};
    hcomm::Result<void*> allocated = hcomm::allocate_window(bytes);
    if (!allocated.ok()) return std::move(allocated).status();
    *memory = allocated.value();
    return {};
  });
}

hcommResult_t hcommMemFree(void* memory) {
  return hcomm::boundary([&]() -> hcomm::Status { return memory == nullptr ? hcomm::Status() : hcomm::free_window(memory); });
}

}  // extern "C"
