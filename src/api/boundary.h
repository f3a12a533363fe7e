// The one door between C++ and C. Every exported function hands its body to boundary(); nothing is thrown past it.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include "api/last_error.h"
#include "base/status.h"

namespace hcomm {

template <class Body>  // Body: () -> Status
hcommResult_t boundary(Body&& body) noexcept {
  try {
    const Status status = std::forward<Body>(body)();
    return last_error::set(status.code(), status.trail());
  } catch (const std::bad_alloc&) {
    return last_error::set(hcommOutOfMemory, "out of memory");
  } catch (const std::exception& surprise) {
    return last_error::set(hcommInternalError, surprise.what());
  } catch (...) {
    return last_error::set(hcommInternalError, "unknown exception");
  }
}

}  // namespace hcomm
