#include "env_command.h"

#define FMT_HEADER_ONLY
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/knobs.h"
#include "command_line.h"
#include "launcher_report.h"

namespace hcomm {
namespace {

std::string shown(const KnobValue& value) { return value.value.empty() ? "(empty)" : value.value; }

void print_text(const KnobReading& reading) {
  for (const KnobValue& value : reading.values) {
    fmt::print("{:<24} {:<16} {}\n", value.knob->name, shown(value), value.source);
    fmt::print("{:<24}   {}\n{:<24}   legal: {}{}\n", "", value.knob->help, "", value.knob->grammar,
               value.knob->must_agree ? "; must be the same on all ranks" : "");
  }
}

void print_json(const KnobReading& reading) {
  nlohmann::ordered_json knobs = nlohmann::ordered_json::array();
  for (const KnobValue& value : reading.values) {
    knobs.push_back({{"name", value.knob->name},
                     {"value", value.value},
                     {"source", value.source},
                     {"default", value.knob->default_text},
                     {"grammar", value.knob->grammar},
                     {"help", value.knob->help},
                     {"must_agree", value.knob->must_agree}});
  }
  fmt::print("{}\n", nlohmann::ordered_json{{"knobs", knobs}, {"warnings", reading.warnings}}.dump(2));
}

}  // namespace

void add_env_command(CLI::App& app, int& exit_code) {
  auto json = std::make_shared<bool>(false);
  auto launcher = std::make_shared<bool>(false);
  CLI::App* const command = app.add_subcommand("env", "Print all settings with value, source and meaning");
  command->add_flag("--json", *json, "Print one JSON object");
  command->add_flag("--launcher", *launcher, "Print who started this process, and why that is known (exit code 1: nobody did)");
  command->callback([json, launcher, &exit_code] {
    if (*launcher) {
      exit_code = report_launcher(*json);
      return;
    }
    const Result<KnobReading> reading = read_knobs(process_sources());
    if (!reading.ok()) throw UsageError(headline(reading.status()));
    if (*json) {
      print_json(reading.value());
    } else {
      print_text(reading.value());
    }
    for (const std::string& warning : reading.value().warnings) fmt::print(stderr, "hcomm env: {}\n", warning);
    exit_code = 0;
  });
}

}  // namespace hcomm
