// An object that a test shares with the children it forks; the one who made it ends it.
#pragma once

#include <sys/mman.h>

#include <new>
#include <type_traits>

#include "base/assert.h"

namespace hcomm::testing {

template <class T>
class Shared {
 public:
  Shared() {
    void* const memory = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    HCOMM_ASSERT(memory != MAP_FAILED);
    object_ = new (memory) T;
  }
  ~Shared() { munmap(object_, sizeof(T)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }

 private:
  static_assert(std::is_trivially_destructible_v<T>);
  T* object_ = nullptr;
};

}  // namespace hcomm::testing
