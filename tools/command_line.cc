#include "command_line.h"

#include "base/knobs.h"
#include "base/parse.h"

namespace hcomm {

std::string headline(const Status& status) {
  std::string_view line = status.trail();
  line = line.substr(0, line.find('\n'));
  return std::string(line.substr(0, line.rfind(" [")));
}

std::string unknown_name(std::string_view kind, std::string_view given, const std::vector<std::string_view>& legal) {
  std::string text = "there is no " + std::string(kind) + " '" + std::string(given) + "'";
  if (const std::string_view near = nearest_name(given, legal); !near.empty())
    text += "; did you mean '" + std::string(near) + "'?";
  text += " Legal are ";
  for (std::size_t i = 0; i < legal.size(); ++i) text += (i == 0 ? "" : ", ") + std::string(legal[i]);
  return text;
}

}  // namespace hcomm
