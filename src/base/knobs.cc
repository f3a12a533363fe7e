#include "base/knobs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace hcomm {
namespace {

using Words = std::span<const std::string_view>;

constexpr std::size_t kMaxFileBytes = 64 * 1024;
constexpr std::size_t kShownValue = 64;  // characters of a bad value that an error repeats
constexpr std::string_view kPrefix = "HCOMM_";
constexpr std::string_view kBlanks = " \t\r";

constexpr std::array<std::string_view, 5> kLevelWords = {name(LogLevel::none), name(LogLevel::error), name(LogLevel::warn),
                                                         name(LogLevel::info), name(LogLevel::trace)};
constexpr std::array<std::string_view, 2> kTunerWords = {name(Tuner::model), name(Tuner::rules)};
constexpr std::array<std::string_view, 2> kDeterminismWords = {name(Determinism::off), name(Determinism::on)};
constexpr std::array<std::string_view, 3> kFamilyWords = {name(SocketFamily::inet), name(SocketFamily::inet6),
                                                          name(SocketFamily::both)};
constexpr std::array<std::string_view, 2> kCheckWords = {name(Check::off), name(Check::signature)};
constexpr std::array<std::string_view, 2> kSwitchWords = {"0", "1"};
constexpr std::array<std::string_view, 5> kKernelWords = {"scalar", "sse4", "avx2", "avx512", "neon"};

// Facts that the launcher tells its ranks.
constexpr std::array<std::string_view, 4> kLaunchNames = {"HCOMM_RANK", "HCOMM_SIZE", "HCOMM_JOB", "HCOMM_RENDEZVOUS"};

// Somebody else's: CANN's library of a similar name reads these. A name that ends in _ stands for all that begin so.
constexpr std::array<std::string_view, 3> kForeignNames = {"HCOMM_DEBUG_CONFIG", "HCOMM_TA_", "HCOMM_NIC_PLUGIN_SO"};

// One knob: how it introduces itself, and how its text becomes a setting.
struct Row {
  Knob knob;                                       // must_agree is filled in by knobs()
  bool (*read)(std::string_view text, Settings&);  // false: not legal
  std::string (*agreed)(const Settings&);          // the same for values that mean the same; null: ranks may differ
  Words words = {};                                // the legal ones, for "did you mean"
};

bool read_duration(std::string_view text, TimeNs& duration) {
  const Result<TimeNs> parsed = parse_duration(text);
  if (parsed.ok()) duration = parsed.value();
  return parsed.ok();
}

bool read_unit(std::string_view text, std::size_t& bytes) {
  const Result<std::size_t> parsed = parse_size(text);
  if (!parsed.ok() || parsed.value() < kMinUnitBytes || parsed.value() > kMaxUnitBytes) return false;
  bytes = parsed.value();
  return true;
}

// The place of the word, or the number of words when it is none of them.
std::size_t place_of(std::string_view text, Words words) {
  const auto found = std::ranges::find_if(words, [&](std::string_view word) { return same_word(word, text); });
  return static_cast<std::size_t>(found - words.begin());
}

template <class Enum>
bool read_word(std::string_view text, Words words, Enum& value) {
  const std::size_t place = place_of(text, words);
  if (place < words.size()) value = static_cast<Enum>(place);
  return place < words.size();
}

bool read_kernels(std::string_view text, Settings& settings) {
  const std::size_t place = place_of(text, kKernelWords);
  if (place < kKernelWords.size()) settings.kernels = kKernelWords[place];
  return place < kKernelWords.size();
}

bool read_slots(std::string_view text, Settings& settings) {
  const Result<std::uint64_t> parsed = parse_count(text);
  if (!parsed.ok() || parsed.value() < 1 || parsed.value() > kMaxSlotsKnob) return false;
  settings.slots = static_cast<int>(parsed.value());
  return true;
}

// Names of letters, digits and _, with commas between them, all of them perhaps after a ^.
bool read_transport(std::string_view text, Settings& settings) {
  std::string_view names = text;
  if (names.starts_with('^')) names.remove_prefix(1);
  bool in_name = false;
  for (const char letter : names) {
    const bool fits = (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '_';
    if (!fits && (letter != ',' || !in_name)) return false;
    in_name = fits;
  }
  if (in_name) settings.transport = text;
  return in_name;
}

bool read_port_range(std::string_view text, Settings& settings) {
  const Result<PortRange> parsed = parse_port_range(text);
  if (parsed.ok()) settings.port_range = parsed.value();
  return parsed.ok();
}

bool read_interface_names(std::string_view text, Settings& settings) {
  const bool legal = parse_name_filter(text).ok();
  if (legal) settings.socket_ifname = text;
  return legal;
}

std::string unless_zero(std::size_t number) { return number == 0 ? std::string() : std::to_string(number); }

constexpr std::string_view kDurationGrammar = "seconds, or a number with s, ms or us, such as 30, 1.5s, 500ms; 0 is never";
constexpr std::string_view kUnitGrammar = "bytes, or a number with K, M or G, from 64 to 1G";

// In the order of `hcomm env`. A duration's ranks may differ: each waits as long as it likes.
constexpr auto kRows = std::to_array<Row>({
    {{"HCOMM_ALGO", "adaptive, an algorithm, collective=algorithm; commas between", "adaptive", "how collectives move data",
      false},
     [](std::string_view text, Settings& settings) { return settings.algo = text, true; },
     [](const Settings& settings) { return settings.algo; }},
    {{"HCOMM_TIMEOUT", kDurationGrammar, "1836s", "how long a call waits for a peer that has not come", false},
     [](std::string_view text, Settings& settings) { return read_duration(text, settings.timeout_ns); },
     nullptr},
    {{"HCOMM_CONNECT_TIMEOUT", kDurationGrammar, "120s", "how long a communicator's ranks wait to meet", false},
     [](std::string_view text, Settings& settings) { return read_duration(text, settings.connect_timeout_ns); },
     nullptr},
    {{"HCOMM_PEER_TIMEOUT", kDurationGrammar, "20s",
      "after how long a silence a peer is late (a warning) or stuck (an error)", false},
     [](std::string_view text, Settings& settings) { return read_duration(text, settings.peer_timeout_ns); },
     nullptr},
    {{"HCOMM_TRANSPORT", "names with commas, best first, such as shm,loopback; or ^ and the ones not wanted", "",
      "which transports may be used; all of them if empty", false},
     read_transport,
     [](const Settings& settings) { return settings.transport; }},
    {{"HCOMM_CHUNK_SIZE", kUnitGrammar, "4M", "the most that one turn of a schedule's loop moves", false},
     [](std::string_view text, Settings& settings) { return read_unit(text, settings.chunk_bytes); },
     [](const Settings& settings) { return std::to_string(settings.chunk_bytes); }},
    {{"HCOMM_BUFFSIZE", kUnitGrammar, "", "bytes of one slot of shared memory; computed if empty", false},
     [](std::string_view text, Settings& settings) { return read_unit(text, settings.buffer_bytes); },
     [](const Settings& settings) { return unless_zero(settings.buffer_bytes); }},
    {{"HCOMM_SLOTS", "a whole number from 1 to 8", "", "slots that each rank stages data in; computed if empty", false},
     read_slots,
     [](const Settings& settings) { return unless_zero(static_cast<std::size_t>(settings.slots)); }},
    {{"HCOMM_TUNER", "model or rules", "model", "who chooses where HCOMM_ALGO is adaptive", false},
     [](std::string_view text, Settings& settings) { return read_word(text, kTunerWords, settings.tuner); },
     [](const Settings& settings) { return std::string(name(settings.tuner)); },
     kTunerWords},
    {{"HCOMM_CHECK", "off or signature; data is not there yet", "signature", "what of a call is compared between ranks", false},
     [](std::string_view text, Settings& settings) { return read_word(text, kCheckWords, settings.check); },
     [](const Settings& settings) { return std::string(name(settings.check)); },
     kCheckWords},
    {{"HCOMM_DETERMINISTIC", "off or on; strict is not there yet", "on", "whether equal calls have equal bits from run to run",
      false},
     [](std::string_view text, Settings& settings) { return read_word(text, kDeterminismWords, settings.determinism); },
     [](const Settings& settings) { return std::string(name(settings.determinism)); },
     kDeterminismWords},
    {{"HCOMM_KERNELS", "scalar, sse4, avx2, avx512 or neon", "", "instruction set of the kernels; the best here if empty", false},
     read_kernels,
     nullptr,
     kKernelWords},
    {{"HCOMM_HOST_ID", "any text", "", "ranks with the same text share memory, others do not; found out if empty", false},
     [](std::string_view text, Settings& settings) { return settings.host_id = text, true; },
     nullptr},
    {{"HCOMM_SOCKET_IFNAME", "beginnings of names with commas, such as eth,enp; after = whole names; after ^ those not wanted",
      "", "which interfaces may be used between hosts; all of them, the best first, if empty", false},
     read_interface_names,
     nullptr},
    {{"HCOMM_SOCKET_FAMILY", "inet, inet6 or both", "both", "which addresses may be used between hosts: IPv4, IPv6", false},
     [](std::string_view text, Settings& settings) { return read_word(text, kFamilyWords, settings.socket_family); },
     nullptr,
     kFamilyWords},
    {{"HCOMM_PORT_RANGE", "auto, or two ports from 1 to 65535, such as 60000-60100", "auto",
      "at which ports ranks listen between hosts", false},
     read_port_range,
     nullptr},
    {{"HCOMM_SECRET_FILE", "a path", "", "a file with the secret of jobs of several hosts; the launcher's if empty", false},
     [](std::string_view text, Settings& settings) { return settings.secret_file = text, true; },
     nullptr},
    {{"HCOMM_TRUSTED_NET", "0 or 1", "0", "1: nobody else can reach the network between the hosts; no secret is needed", false},
     [](std::string_view text, Settings& settings) { return read_word(text, kSwitchWords, settings.trusted_net); },
     nullptr},
    {{"HCOMM_DEBUG", "none, error, warn, info or trace", "warn", "what is written to the log", false},
     [](std::string_view text, Settings& settings) { return read_word(text, kLevelWords, settings.debug); },
     nullptr,
     kLevelWords},
    {{"HCOMM_DEBUG_FILE", "a path, in which %h is the host, %p the process, %r the rank", "",
      "where the log is appended to; standard error if empty", false},
     [](std::string_view text, Settings& settings) { return settings.debug_file = text, true; },
     nullptr},
});

constexpr auto kKnobs = [] {
  std::array<Knob, kRows.size()> all{};
  for (std::size_t place = 0; place < all.size(); ++place) {
    all[place] = kRows[place].knob;
    all[place].must_agree = kRows[place].agreed != nullptr;
  }
  return all;
}();

constexpr auto kKnobNames = [] {
  std::array<std::string_view, kRows.size()> all{};
  for (std::size_t place = 0; place < all.size(); ++place) all[place] = kRows[place].knob.name;
  return all;
}();

// A value and where it was set.
struct Setting {
  std::string name;
  std::string value;
  std::string source;
};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string_view without_comment(std::string_view line) {
  for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    if (at == 0 || kBlanks.find(line[at - 1]) != std::string_view::npos) return line.substr(0, at);
  }
  return line;
}

Status parse_file(const std::string& shown_name, std::string_view text, std::vector<Setting>& settings) {
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(without_comment(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    const std::string source = shown_name + ":" + std::to_string(number);
    const std::size_t equals = line.find('=');
    const std::string_view name = trimmed(line.substr(0, equals));
    if (equals == std::string_view::npos || name.empty()) {
      return Status::failure(hcommInvalidArgument,
                             source + ": '" + std::string(line.substr(0, kShownValue)) +
                                 "' is no setting; legal is one NAME=VALUE a line, and # before a comment");
    }
    settings.push_back({std::string(name), std::string(trimmed(line.substr(equals + 1))), source});
  }
  return {};
}

bool is_foreign(std::string_view name) {
  return std::ranges::any_of(kForeignNames, [&](std::string_view foreign) {
    return foreign.ends_with('_') ? name.starts_with(foreign) : name == foreign;
  });
}

// What follows HCOMM_, so that this part, which all have, makes no two names look near.
std::string_view own_part(std::string_view name) {
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
}

void warn_if_unknown(std::string_view name, const std::string& source, std::vector<std::string>& warnings) {
  if (std::ranges::count(kKnobNames, name) != 0 || is_foreign(name)) return;
  const bool from_environment = source == "environment";
  if (std::ranges::count(kLaunchNames, name) != 0) {
    if (from_environment) return;
    warnings.push_back(std::string(name) + " (" + source + ") is ignored: a launcher sets it, in the environment");
    return;
  }
  std::vector<std::string_view> known;
  for (const std::string_view knob : kKnobNames) known.push_back(own_part(knob));
  const std::string_view nearest = nearest_name(own_part(name), known);
  std::string warning = std::string(name) + " (" + source + ") is no knob of hcomm and is ignored";
  if (!nearest.empty()) warning.append("; did you mean ").append(kPrefix).append(nearest).append("?");
  warnings.push_back(std::move(warning));
}

Status not_legal(const Row& row, const Setting& setting) {
  const std::string_view rest = setting.value.size() > kShownValue ? "..." : "";
  std::string text = setting.name + "='" + setting.value.substr(0, kShownValue);
  text.append(rest).append("' (").append(setting.source).append(") is not legal");
  const std::string_view nearest = nearest_name(setting.value, row.words);
  if (!nearest.empty()) text.append("; did you mean ").append(nearest).append("?");
  text.append("; legal: ").append(row.knob.grammar);
  if (setting.value.size() > kMaxKnobLength) text += ", of at most " + std::to_string(kMaxKnobLength) + " characters";
  return Status::failure(hcommInvalidArgument, text);
}

// The value that counts for one knob: the first of the sources that has one.
Setting effective(std::string_view name, const KnobSources& sources, const std::vector<std::vector<Setting>>& files) {
  if (sources.environment) {
    std::optional<std::string> value = sources.environment(name);
    if (value && !value->empty()) return {std::string(name), std::move(*value), "environment"};
  }
  for (const std::vector<Setting>& file : files) {
    const Setting* last = nullptr;
    for (const Setting& setting : file) last = setting.name == name ? &setting : last;
    if (last != nullptr && !last->value.empty()) return *last;
  }
  return {std::string(name), "", "default"};
}

// Adds the file to the sources. One that is not there is no news; one that cannot be read is.
void add_file(const std::string& path, const std::string& shown_name, KnobSources& sources) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return;
    sources.warnings.push_back(shown_name + " cannot be read and is ignored: " + std::strerror(errno));
    return;
  }
  struct stat about {};
  std::string contents(kMaxFileBytes + 1, '\0');
  std::size_t filled = 0;
  const bool regular = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
  while (regular && filled < contents.size()) {
    const ssize_t got = read(fd, contents.data() + filled, contents.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  close(fd);
  if (!regular || filled > kMaxFileBytes) {
    sources.warnings.push_back(shown_name + " is ignored: it is no regular file of at most " +
                               std::to_string(kMaxFileBytes / 1024) + " KiB");
    return;
  }
  contents.resize(filled);
  sources.files.emplace_back(shown_name, std::move(contents));
}

// Programs that run with more rights than their caller do not listen to the caller's environment.
std::optional<std::string> environment_value(std::string_view name) {
  const char* value = secure_getenv(std::string(name).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace

std::span<const Knob> knobs() { return kKnobs; }

KnobSources process_sources() {
  KnobSources sources;
  sources.environment = environment_value;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with(kPrefix)) sources.environment_names.emplace_back(text.substr(0, text.find('=')));
  }
  if (const auto home = environment_value("HOME"); home && !home->empty()) {
    add_file(*home + "/.hcomm.conf", "~/.hcomm.conf", sources);
  }
  add_file("/etc/hcomm.conf", "/etc/hcomm.conf", sources);
  return sources;
}

Result<KnobReading> read_knobs(const KnobSources& sources) {
  KnobReading reading;
  reading.warnings = sources.warnings;
  for (const std::string& name : sources.environment_names) {
    if (name.starts_with(kPrefix)) warn_if_unknown(name, "environment", reading.warnings);
  }
  std::vector<std::vector<Setting>> files;
  for (const auto& [shown_name, contents] : sources.files) {
    if (Status status = parse_file(shown_name, contents, files.emplace_back()); !status.ok()) return status;
    for (const Setting& setting : files.back()) warn_if_unknown(setting.name, setting.source, reading.warnings);
  }
  for (std::size_t place = 0; place < kRows.size(); ++place) {
    const Row& row = kRows[place];
    const Setting setting = effective(row.knob.name, sources, files);
    const bool is_default = setting.source == "default";
    const bool legal = is_default || (setting.value.size() <= kMaxKnobLength && row.read(setting.value, reading.settings));
    if (!legal) return not_legal(row, setting);
    reading.values.push_back(
        {&kKnobs[place], is_default ? std::string(row.knob.default_text) : setting.value, setting.source});
  }
  return reading;
}

std::string agreement_text(const KnobReading& reading) {
  std::string text;
  for (const Row& row : kRows) {
    if (row.agreed == nullptr) continue;
    std::string value = row.agreed(reading.settings);
    std::ranges::replace(value, ';', ',');  // parts the knobs
    text.append(row.knob.name).append("=").append(value).append(";");
  }
  return text;
}

std::optional<std::string> launch_variable(std::string_view name) {
  std::optional<std::string> value = environment_value(name);
  return value && !value->empty() ? value : std::nullopt;
}

}  // namespace hcomm
