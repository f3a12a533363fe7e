#include "base/status.h"

namespace hcomm {
namespace {

// "/long/path/src/room/file.cc" becomes "src/room/file.cc".
std::string_view short_name(std::string_view file) {
  const auto at = file.rfind("src/");
  return at == std::string_view::npos ? file : file.substr(at);
}

void append_line(std::string& trail, std::string_view text, const std::source_location& where) {
  trail += text;
  trail += " [";
  trail += short_name(where.file_name());
  trail += ':';
  trail += std::to_string(where.line());
  trail += ']';
}

}  // namespace

Status Status::failure(hcommResult_t code, std::string_view what, std::source_location where) {
  HCOMM_ASSERT(code != hcommSuccess);
  Status status;
  status.failure_ = std::make_unique<Failure>();
  status.failure_->code = code;
  append_line(status.failure_->trail, what, where);
  return status;
}

Status Status::during(std::string_view activity, std::source_location where) && {
  if (failure_ != nullptr) {
    failure_->trail += "\n  ";
    append_line(failure_->trail, activity, where);
  }
  return std::move(*this);
}

}  // namespace hcomm
