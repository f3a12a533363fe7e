#include "bootstrap/launch.h"

#include <algorithm>

#include "bootstrap/message.h"
#include "bootstrap/node_list.h"
#include "bootstrap/rank_table.h"
#include "bootstrap/run_id.h"

namespace hcomm {
namespace {

constexpr std::size_t kShownList = 100;

std::string who(const Reading& reading) {
  const auto number = [](std::optional<int> value) { return value ? std::to_string(*value) : std::string("?"); };
  return std::string(reading.launcher->name) + " says rank " + number(reading.rank) + " of " + number(reading.ranks) + " (" +
         reading.by + ")";
}

bool contradict(const Reading& one, const Reading& other) {
  const auto differ = [](std::optional<int> left, std::optional<int> right) { return left && right && *left != *right; };
  return differ(one.rank, other.rank) || differ(one.ranks, other.ranks);
}

Status nobody(const Detection& detection) {
  std::string names;
  std::string nearly;
  for (const Reading& reading : detection.readings) {
    names += (names.empty() ? "" : ", ") + std::string(reading.launcher->name);
    if (!reading.near.empty()) nearly += "; " + reading.near + " (" + std::string(reading.launcher->name) + ")";
  }
  return Status::failure(hcommInvalidUsage,
                         "HCOMM_RANK, HCOMM_SIZE and HCOMM_JOB are not set, nor is what another launcher sets (" + names +
                             "), so there is no job to join" + nearly +
                             "; start the program with: " + std::string(launchers().front().how));
}

// The reading that counts, with the reason in `why`. Null when none was found.
const Reading* choose(const std::vector<Reading>& readings, const Surroundings& surroundings, std::string& why) {
  const Reading* first = nullptr;
  const Reading* incomplete = nullptr;
  const Reading* nearest = nullptr;
  int found = 0;
  // What hcomm run sets counts whatever it lacks, for nobody sets it by accident. Ranks started by hand have no HCOMM_JOB.
  const bool by_hand = readings.front().incomplete && readings[1].found() && !readings[1].incomplete;
  for (const Reading& reading : readings) {
    if (!reading.found()) continue;
    ++found;
    if (&reading == &readings.front() && !by_hand) first = &reading;
    if (reading.incomplete && incomplete == nullptr) incomplete = &reading;
    if (reading.incomplete) continue;
    if (first == nullptr) first = &reading;
    if (reading.ancestor && (nearest == nullptr || *reading.ancestor < *nearest->ancestor)) nearest = &reading;
  }
  if (first == nullptr) first = incomplete;
  if (first == nullptr) return nullptr;
  const bool processes_tell = nearest != nullptr && !first->launcher->processes.empty();
  if (processes_tell) first = nearest;
  why = "its variables are the only ones";
  if (found > 1) why = first->launcher->why;
  if (processes_tell) {
    const Ancestor& process = surroundings.ancestors[*first->ancestor];
    why = process.name + " (pid " + std::to_string(process.pid) + ") is the nearest launcher among this process's ancestors";
  }
  return first;
}

// Makes a Launch of the reading that counts.
class Deriver {
 public:
  Deriver(const Reading& reading, const Surroundings& surroundings)
      : reading_(reading), launcher_(*reading.launcher), surroundings_(surroundings) {}

  Result<Launch> derive() {
    if (!reading_.problem.empty()) return Status::failure(reading_.code, reading_.problem);
    launch_.rank = *reading_.rank;  // a reading without problem has one
    launch_.local_rank = reading_.local_rank;
    launch_.local_ranks = reading_.local_ranks;
    launch_.launcher = launcher_.name;
    launch_.by = reading_.by;
    if (Status status = read_size(); !status.ok()) return status;
    if (Status status = find_host(); !status.ok()) return status;
    if (Status status = name_run(); !status.ok()) return std::move(status).during("naming this run");
    launch_.serves = launcher_.first_host != FirstHost::here && launch_.rank == 0;
    if (!launch_.one_host && launch_.rendezvous.empty() && !first_host_.empty()) {
      const bool needs_brackets = first_host_.find(':') != std::string::npos && !first_host_.starts_with('[');
      const std::string host = needs_brackets ? "[" + first_host_ + "]" : first_host_;
      launch_.rendezvous = {host + ":" + std::to_string(run_port(launch_.job))};
    }
    return std::move(launch_);
  }

 private:
  std::optional<std::string> value(std::string_view name) const { return surroundings_.variable(name); }

  static Status wrong(const std::string& text) { return Status::failure(hcommInvalidArgument, text); }

  // The variables tell it, or the rank table does.
  Status read_size() {
    if (reading_.ranks) {
      launch_.ranks = *reading_.ranks;
      return {};
    }
    return read_table();
  }

  Status read_table() {
    const std::string path = value("RANK_TABLE_FILE").value_or("");
    Result<std::string> text = surroundings_.read_file(path);
    if (!text.ok()) return std::move(text).status().during("reading RANK_TABLE_FILE");
    Result<RankTable> table = parse_rank_table(text.value());
    if (!table.ok()) return std::move(table).status().during("reading RANK_TABLE_FILE, " + printable(path));
    launch_.ranks = table.value().ranks();
    const std::string in_table = "the table has " + std::to_string(launch_.ranks) + " ranks (" + printable(path) + ")";
    if (launch_.rank >= launch_.ranks) return wrong("RANK_ID is " + std::to_string(launch_.rank) + ", but " + in_table);
    if (const auto size = value("RANK_SIZE"); size && legal_number(*size, 1, kMaxMeetingRanks) != launch_.ranks) {
      return wrong("RANK_SIZE is '" + printable(*size) + "', but " + in_table);
    }
    launch_.one_host = table.value().one_host();
    first_host_ = table.value().first_address;
    facts_.push_back(text.value());
    launch_.named_by = "the contents of RANK_TABLE_FILE";
    return {};
  }

  // Whether all ranks are on this host and, if not, where the first one is.
  Status find_host() {
    if (launcher_.first_host == FirstHost::rank_table) return use_rendezvous();
    launch_.one_host = launcher_.first_host == FirstHost::here || launch_.ranks == 1 || reading_.hosts == 1 ||
                       reading_.local_ranks == launch_.ranks;
    if (launcher_.first_host == FirstHost::variable) {
      first_host_ = value(launcher_.host_variable).value_or("");
      const bool loopback = first_host_ == "localhost" || first_host_ == "::1" || first_host_.starts_with("127.");
      launch_.one_host = launch_.one_host || (loopback && !reading_.local_ranks);
    }
    if (launcher_.first_host == FirstHost::node_list) {
      const std::string list = value(launcher_.host_variable).value_or("");
      Result<std::vector<std::string>> hosts = expand_node_list(list);
      if (!hosts.ok()) {
        return std::move(hosts).status().during("reading " + std::string(launcher_.host_variable) + "=" +
                                                printable(list.substr(0, kShownList)));
      }
      if (reading_.hosts && static_cast<std::size_t>(*reading_.hosts) != hosts.value().size()) {
        return wrong(std::string(launcher_.hosts) + " is " + std::to_string(*reading_.hosts) + ", but " +
                     std::string(launcher_.host_variable) + " has " + std::to_string(hosts.value().size()) + " hosts");
      }
      first_host_ = hosts.value().front();
    }
    return use_rendezvous();
  }

  // Said to hcomm itself, it counts more than what the launcher tells.
  Status use_rendezvous() {
    const auto given = value(kRendezvousVariable);
    if (given) launch_.rendezvous = {*given};
    if (given && launcher_.first_host != FirstHost::here) launch_.one_host = false;
    if (launch_.one_host || given || !first_host_.empty()) return {};
    return Status::failure(hcommInvalidUsage, "the ranks are on several hosts, and " + std::string(launcher_.name) +
                                                  " does not tell where rank 0 is; set " + std::string(kRendezvousVariable) +
                                                  "=HOST:PORT for all ranks, with rank 0's host and a free port there");
  }

  Status name_run() {
    if (launcher_.first_host == FirstHost::here) {
      launch_.named_by = kJobVariable;
      Result<JobId> job = job_id_from_hex(value(kJobVariable).value_or(""));
      if (!job.ok()) return std::move(job).status().during("reading HCOMM_JOB");
      launch_.job = job.value();
      return {};
    }
    facts_.insert(facts_.begin(), std::string(launcher_.name));
    for (const std::string_view name : launcher_.run) {
      const std::optional<std::string> text = value(name);
      if (!text) continue;
      facts_.push_back(std::string(name) + "=" + *text);
      launch_.named_by += (launch_.named_by.empty() ? "" : ", ") + std::string(name);
    }
    if (launch_.named_by.empty()) {
      if (Status status = name_run_otherwise(); !status.ok()) return status;
    }
    Result<JobId> job = derive_run_id(surroundings_.user, facts_);
    if (!job.ok()) return std::move(job).status();
    launch_.job = job.value();
    return {};
  }

  // All ranks of one host have the same launcher's process above them, and ranks of other runs have another.
  Status name_run_otherwise() {
    if (!launch_.one_host) {
      facts_.push_back(launch_.rendezvous.front());
      launch_.named_by = kRendezvousVariable;
      return {};
    }
    if (launch_.ranks == 1) return {};
    const std::size_t place = reading_.ancestor.value_or(0);
    if (!launcher_.run.empty() || place >= surroundings_.ancestors.size()) {
      return Status::failure(hcommInvalidUsage, "nothing that " + std::string(launcher_.name) +
                                                    " says names this run, and the process that started it cannot be seen");
    }
    const Ancestor& process = surroundings_.ancestors[place];
    facts_.push_back(std::to_string(process.pid) + " since " + std::to_string(process.started));
    launch_.named_by = "the process " + process.name + " (pid " + std::to_string(process.pid) + ")";
    return {};
  }

  const Reading& reading_;
  const Launcher& launcher_;
  const Surroundings& surroundings_;
  Launch launch_;
  std::string first_host_;
  std::vector<std::string> facts_;  // that name the run
};

}  // namespace

Detection detect(const Surroundings& surroundings) {
  Detection detection{.readings = {}, .chosen = nullptr, .why = {}, .remarks = {}, .launch = Launch{}};
  for (const Launcher& launcher : launchers()) detection.readings.push_back(read_launcher(launcher, surroundings));
  const Reading* const chosen = choose(detection.readings, surroundings, detection.why);
  if (chosen == nullptr) {
    detection.launch = nobody(detection);
    return detection;
  }
  detection.chosen = chosen->launcher;
  detection.launch = Deriver(*chosen, surroundings).derive();
  for (const Reading& other : detection.readings) {
    if (&other == chosen || !other.found() || !contradict(*chosen, other)) continue;
    detection.remarks.push_back(who(other) + ", which contradicts " + std::string(chosen->launcher->name) +
                                " and does not count: " + detection.why);
    const bool would_count = other.incomplete && &other < chosen;  // were it complete
    if (!would_count) continue;
    detection.launch = Status::failure(hcommInvalidArgument, who(*chosen) + ", but " + who(other) +
                                                                 ", which is incomplete and contradicts it: " + other.problem);
  }
  return detection;
}

Detection detect() { return detect(own_surroundings()); }

Result<Launch> detect_launch() { return std::move(detect().launch); }

}  // namespace hcomm
