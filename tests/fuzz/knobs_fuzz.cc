// Rooms: base
//
// The input is a file of settings. What comes before a zero byte in it is instead the value of the first knob, of the second, ...
// in the environment. An error names what is wrong; what was read agrees with itself when it is read again.
#include "base/knobs.h"

#include <map>

#include "base/assert.h"
#include "fuzz/fuzz.h"

namespace hcomm {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

KnobSources sources_of(const Variables& variables, std::string_view file) {
  KnobSources sources;
  sources.environment = [&variables](std::string_view name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
  for (const auto& [name, value] : variables) sources.environment_names.push_back(name);
  sources.files.emplace_back("fuzz.conf", std::string(file));
  return sources;
}

void read(std::string_view input) {
  Variables variables;
  for (const Knob& knob : knobs()) {
    const std::size_t zero = input.find('\0');
    if (zero == std::string_view::npos) break;
    if (zero > 0) variables[std::string(knob.name)] = std::string(input.substr(0, zero));
    input.remove_prefix(zero + 1);
  }
  const Result<KnobReading> reading = read_knobs(sources_of(variables, input));
  if (!reading.ok()) {
    HCOMM_ASSERT(reading.status().code() == hcommInvalidArgument);
    HCOMM_ASSERT(reading.status().trail().find("legal") != std::string_view::npos);
    return;
  }
  Variables again;
  for (const KnobValue& value : reading.value().values) again[std::string(value.knob->name)] = value.value;
  const Result<KnobReading> second = read_knobs(sources_of(again, ""));
  HCOMM_ASSERT(second.ok());
  HCOMM_ASSERT(agreement_text(second.value()) == agreement_text(reading.value()));
}

}  // namespace
}  // namespace hcomm

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hcomm::read(hcomm::text_of(data, size));
  return 0;
}
