// The knobs: one table, and the only reader of the environment.
//
// Precedence, highest first: environment, ~/.hcomm.conf, /etc/hcomm.conf, default. A file has one NAME=VALUE a line; '#' starts
// a comment. A bad value is hcommInvalidArgument and names the variable, the value, where it was set and what is legal.
// An unknown HCOMM_ name is a warning that names the nearest known one. An empty value counts as unset.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/status.h"

namespace hcomm {

enum class LogLevel : unsigned char { none, error, warn, info, trace };
enum class Tuner : unsigned char { model, rules };

// All settings, typed. Copied into each communicator when it is made; later changes of the environment do not reach it.
struct Settings {
  std::string algo = "adaptive";           // HCOMM_ALGO: adaptive or an algorithm's name; checked by plan, which knows them
  TimeNs timeout_ns = 1836 * kSecond;      // HCOMM_TIMEOUT: kNever for 0
  TimeNs connect_timeout_ns = 120 * kSecond;  // HCOMM_CONNECT_TIMEOUT
  TimeNs peer_timeout_ns = 20 * kSecond;   // HCOMM_PEER_TIMEOUT
  std::string transport;                   // HCOMM_TRANSPORT: "" all, best first; "shm,loopback"; "^shm"
  std::size_t chunk_bytes = 4u << 20;      // HCOMM_CHUNK_SIZE
  std::size_t buffer_bytes = 0;            // HCOMM_BUFFSIZE: bytes of one slot; 0: computed
  int slots = 0;                           // HCOMM_SLOTS: 0: computed
  Tuner tuner = Tuner::model;              // HCOMM_TUNER
  std::string kernels;                     // HCOMM_KERNELS: "" the best that runs here
  LogLevel debug = LogLevel::warn;         // HCOMM_DEBUG
  std::string debug_file;                  // HCOMM_DEBUG_FILE: pattern with %h %p %r; "" is standard error
};

struct Knob {
  std::string_view name;     // "HCOMM_ALGO"
  std::string_view grammar;  // what a value looks like, with its range
  std::string_view default_text;
  std::string_view help;     // one line
  bool must_agree;           // checked at init across ranks
};

std::span<const Knob> knobs();

// A value as it stands, for `hcomm env`.
struct KnobValue {
  const Knob* knob;
  std::string value;
  std::string source;  // "environment", "~/.hcomm.conf:3", "/etc/hcomm.conf:1", "default"
};

// Where values come from. Tests make their own; process_sources() is the real one.
struct KnobSources {
  std::function<std::optional<std::string>(std::string_view name)> environment;
  std::vector<std::string> environment_names;             // all that are set, for the unknown-name warning
  std::vector<std::pair<std::string, std::string>> files;  // (name shown, contents), highest first
};
KnobSources process_sources();

struct KnobReading {
  Settings settings;
  std::vector<KnobValue> values;      // in table order
  std::vector<std::string> warnings;  // one line each
};
Result<KnobReading> read_knobs(const KnobSources& sources);

// One line of "NAME=value;..." of the knobs that must agree, for the check at init.
std::string agreement_text(const KnobReading& reading);

// What a launcher tells (HCOMM_RANK and its kin are not knobs but facts); null when unset.
std::optional<std::string> launch_variable(std::string_view name);

// The name in `known` nearest to `given` by edit distance, for "did you mean"; empty when none is near.
std::string_view nearest_name(std::string_view given, std::span<const std::string_view> known);

// Parsers, shared with the command line. A failure says what is legal, and leaves naming the variable to the caller.
Result<TimeNs> parse_duration(std::string_view text);   // 30, 1.5s, 500ms, 250us; 0 is never: kNever
Result<std::size_t> parse_size(std::string_view text);  // 8, 4K, 64M, 1G; powers of 1024

}  // namespace hcomm
