#include "bootstrap/reading.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "bootstrap/message.h"

namespace hcomm {
namespace {

constexpr std::uint64_t kFirstSpecialStep = 0xfffffff0;  // of Slurm: batch scripts, interactive shells and such have these

void append(std::string& list, std::string_view name) { list += (list.empty() ? "" : ", ") + std::string(name); }

// Reads one launcher into a Reading; the first problem stays.
class Reader {
 public:
  Reader(const Launcher& launcher, const Surroundings& surroundings) : surroundings_(surroundings) {
    reading_.launcher = &launcher;
  }

  Reading read() {
    recognise();
    if (!reading_.found()) return std::move(reading_);
    check_complete();
    read_numbers();
    compare();
    find_process();
    return std::move(reading_);
  }

 private:
  std::optional<std::string> value(std::string_view name) const {
    return name.empty() ? std::nullopt : surroundings_.variable(name);
  }

  void recognise() {
    for (const std::string_view mark : launcher().marks) {
      const std::size_t plus = std::min(mark.find('+'), mark.size());
      const std::string_view first = mark.substr(0, plus);
      const std::string_view second = plus == mark.size() ? first : mark.substr(plus + 1);
      if (!value(first)) continue;
      if (value(second)) {
        append(reading_.by, first);
        if (second != first) append(reading_.by, second);
      } else {
        reading_.near = std::string(first) + " is set, but " + std::string(second) + " is not";
      }
    }
    const std::optional<std::string> step = value(launcher().step);
    std::uint64_t number = 0;
    if (!step || std::from_chars(step->data(), step->data() + step->size(), number).ec != std::errc()) return;
    if (number < kFirstSpecialStep) return;
    reading_.by.clear();
    reading_.near = std::string(launcher().step) + " is " + printable(*step) + ", a shell or script and no task";
  }

  void fail(hcommResult_t code, std::string text) {
    if (!reading_.problem.empty()) return;
    reading_.code = code;
    reading_.problem = std::move(text);
  }

  void check_complete() {
    std::string missing;
    std::string present;
    const auto look = [&](std::string_view name) {
      if (!name.empty()) append(value(name) ? present : missing, name);
    };
    look(launcher().rank);
    look(launcher().size);
    for (const std::string_view name : launcher().needs) look(name);
    if (missing.empty() && launcher().size.empty() && launcher().first_host != FirstHost::rank_table) {
      reading_.incomplete = true;
      fail(hcommInvalidUsage, reading_.by + " is set by " + std::string(launcher().name) +
                                  ", which tells the number of ranks only through its library, which this version does not "
                                  "load; start the program with: " + std::string(launchers().front().how));
    }
    if (missing.empty()) return;
    reading_.incomplete = true;
    if (present.empty()) present = reading_.by;
    fail(hcommInvalidUsage, present + " is set, but " + missing + " is not or is empty; start the program with: " +
                                std::string(launcher().how));
  }

  std::optional<int> number(std::string_view name, int least, int most) {
    const std::optional<std::string> text = value(name);
    if (!text) return {};
    const std::optional<int> read = legal_number(*text, least, most);
    if (!read) fail(hcommInvalidArgument, not_legal(name, *text, least, most, launcher().name));
    return read;
  }

  void read_numbers() {
    reading_.ranks = number(launcher().size, 1, kMaxMeetingRanks);
    reading_.rank = number(launcher().rank, 0, kMaxMeetingRanks - 1);
    reading_.local_ranks = number(launcher().local_size, 1, kMaxMeetingRanks);
    reading_.local_rank = number(launcher().local_rank, 0, kMaxMeetingRanks - 1);
    reading_.hosts = number(launcher().hosts, 1, kMaxMeetingRanks);
  }

  // `index` counts from 0 within `size`.
  void check_within(std::string_view index_name, std::optional<int> index, std::string_view size_name, std::optional<int> size) {
    if (!index || !size || *index < *size) return;
    contradict(index_name, *index, size_name, *size, "ranks are 0 to " + std::string(size_name) + " - 1");
  }

  void contradict(std::string_view one, int one_value, std::string_view other, int other_value, const std::string& why) {
    fail(hcommInvalidArgument, std::string(one) + " is " + std::to_string(one_value) + " and " + std::string(other) + " is " +
                                   std::to_string(other_value) + ", which contradict each other: " + why);
  }

  void compare() {
    check_within(launcher().rank, reading_.rank, launcher().size, reading_.ranks);
    check_within(launcher().local_rank, reading_.local_rank, launcher().local_size, reading_.local_ranks);
    if (reading_.local_ranks && reading_.ranks && *reading_.local_ranks > *reading_.ranks) {
      contradict(launcher().local_size, *reading_.local_ranks, launcher().size, *reading_.ranks,
                 "a host has no more ranks than the job");
    }
    if (reading_.hosts && reading_.ranks && *reading_.hosts > *reading_.ranks) {
      contradict(launcher().hosts, *reading_.hosts, launcher().size, *reading_.ranks, "each host has a rank");
    }
  }

  void find_process() {
    for (std::size_t place = 0; place < surroundings_.ancestors.size(); ++place) {
      if (std::ranges::find(launcher().processes, surroundings_.ancestors[place].name) == launcher().processes.end()) continue;
      reading_.ancestor = place;
      return;
    }
  }

  const Launcher& launcher() const { return *reading_.launcher; }

  const Surroundings& surroundings_;
  Reading reading_;
};

}  // namespace

Reading read_launcher(const Launcher& launcher, const Surroundings& surroundings) {
  return Reader(launcher, surroundings).read();
}

std::optional<int> legal_number(std::string_view text, int least, int most) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number >= least && number <= most ? std::optional(number) : std::nullopt;
}

std::string not_legal(std::string_view name, std::string_view text, int least, int most, std::string_view launcher) {
  constexpr std::size_t shown = 64;
  return std::string(name) + " is '" + printable(text.substr(0, shown)) + "'; legal are " + std::to_string(least) + " to " +
         std::to_string(most) + " (" + std::string(launcher) + " sets it)";
}

}  // namespace hcomm
