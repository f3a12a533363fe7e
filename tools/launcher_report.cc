#include "launcher_report.h"

#define FMT_HEADER_ONLY
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "bootstrap/launch.h"
#include "command_line.h"

namespace hcomm {
namespace {

std::string number(std::optional<int> value) { return value ? std::to_string(*value) : "?"; }

std::string not_found(const Reading& reading) {
  if (!reading.near.empty()) return reading.near;
  std::string marks;
  for (const std::string_view mark : reading.launcher->marks) marks += (marks.empty() ? "" : ", ") + std::string(mark);
  return "not set: " + marks;
}

std::string finding(const Reading& reading) {
  if (!reading.found()) return not_found(reading);
  const std::string problem = reading.problem.empty() ? "" : "; " + reading.problem;
  return fmt::format("rank {} of {}, by {}{}", number(reading.rank), number(reading.ranks), reading.by, problem);
}

std::string meeting_place(const Launch& launch) {
  if (launch.ranks == 1) return "nowhere: there is one rank";
  const std::string server = launch.serves || launch.launcher != launchers().front().name ? "rank 0" : "the launcher";
  if (launch.one_host) {
    return fmt::format("on this host, at a Unix socket named after {}, which {} serves", launch.named_by, server);
  }
  std::string places;
  for (const std::string& place : launch.rendezvous) places += (places.empty() ? "" : ", ") + place;
  return fmt::format("at {}, which rank 0 serves; the run is named after {}", places, launch.named_by);
}

void print_text(const Detection& detection) {
  for (const Reading& reading : detection.readings) {
    fmt::print("{:<12} {:<4} {}\n", reading.launcher->name, reading.found() ? "yes" : "no", finding(reading));
  }
  for (const std::string& remark : detection.remarks) fmt::print("{}\n", remark);
  if (!detection.launch.ok()) return;
  const Launch& launch = detection.launch.value();
  fmt::print("{} counts: {}\n", launch.launcher, detection.why);
  fmt::print("rank {} of {}, on its host {} of {}\n", launch.rank, launch.ranks, number(launch.local_rank),
             number(launch.local_ranks));
  fmt::print("the ranks meet {}\n", meeting_place(launch));
}

nlohmann::ordered_json or_null(std::optional<int> value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

void print_json(const Detection& detection) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Reading& reading : detection.readings) {
    rows.push_back({{"name", reading.launcher->name},
                    {"found", reading.found()},
                    {"by", reading.by},
                    {"rank", or_null(reading.rank)},
                    {"size", or_null(reading.ranks)},
                    {"note", reading.found() ? reading.problem : not_found(reading)}});
  }
  nlohmann::ordered_json whole = {{"launcher", nullptr}, {"why", detection.why}};
  if (detection.chosen != nullptr) whole["launcher"] = detection.chosen->name;
  if (detection.launch.ok()) {
    const Launch& launch = detection.launch.value();
    whole.update({{"rank", launch.rank},
                  {"size", launch.ranks},
                  {"local_rank", or_null(launch.local_rank)},
                  {"local_size", or_null(launch.local_ranks)},
                  {"one_host", launch.one_host},
                  {"serves", launch.serves},
                  {"rendezvous", launch.rendezvous},
                  {"meeting", meeting_place(launch)}});
  }
  whole["error"] = nullptr;
  if (!detection.launch.ok()) whole["error"] = headline(detection.launch.status());
  whole["remarks"] = detection.remarks;
  whole["launchers"] = rows;
  fmt::print("{}\n", whole.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace

int report_launcher(bool json) {
  const Detection detection = detect();
  if (json) {
    print_json(detection);
  } else {
    print_text(detection);
  }
  if (detection.launch.ok()) return 0;
  if (!json) fmt::print(stderr, "hcomm env: {}\n", headline(detection.launch.status()));
  return kExitFailed;
}

}  // namespace hcomm
