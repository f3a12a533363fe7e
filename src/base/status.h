// Success is one null pointer. A failure has a code and a trail of what was being done.
//
// The first line of the trail is written by whoever decides that this is an error; each caller may add one line with
// what it was doing. Trails are logged once, at the boundary to C.
#pragma once

#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "hcomm/types.h"

namespace hcomm {

class [[nodiscard]] Status {
 public:
  Status() noexcept = default;

  static Status failure(hcommResult_t code, std::string_view what,
                        std::source_location where = std::source_location::current());

  bool ok() const noexcept { return failure_ == nullptr; }
  hcommResult_t code() const noexcept { return ok() ? hcommSuccess : failure_->code; }
  std::string_view trail() const noexcept { return ok() ? std::string_view() : std::string_view(failure_->trail); }

  // Adds "  activity [file:line]" to the trail; the first code stays.
  Status during(std::string_view activity, std::source_location where = std::source_location::current()) &&;

 private:
  struct Failure {
    hcommResult_t code;
    std::string trail;
  };
  std::unique_ptr<Failure> failure_;  // move-only: a failure cannot be duplicated or lost
};

// A value or the failure that prevented it.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T held) : value_(std::move(held)) {}
  Result(Status failure) : status_(std::move(failure)) { HCOMM_ASSERT(!status_.ok()); }

  bool ok() const noexcept { return status_.ok(); }
  T& value() & {
    HCOMM_ASSERT(ok());
    return *value_;
  }
  const T& value() const& {
    HCOMM_ASSERT(ok());
    return *value_;
  }
  T&& value() && {
    HCOMM_ASSERT(ok());
    return std::move(*value_);
  }
  const Status& status() const& noexcept { return status_; }
  Status&& status() && noexcept { return std::move(status_); }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace hcomm
