// What all subcommands share: how usage errors look.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace hcomm {

inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

// Thrown by subcommands, caught in main(), which prints it and exits with kExitUsage.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The first line of a trail without its "[file:line]".
std::string headline(const Status& status);

// "there is no collective 'allredcue'; did you mean 'allreduce'? legal are allreduce, ..."
std::string unknown_name(std::string_view kind, std::string_view given, const std::vector<std::string_view>& legal);

}  // namespace hcomm
