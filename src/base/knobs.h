// The knobs: one table, and the only reader of the environment.
//
// Precedence, highest first: environment, ~/.hcomm.conf, /etc/hcomm.conf, default. A file has one NAME=VALUE a line; '#'
// starts a comment, at the start of a line or after a blank; of two lines for one name the last counts. A bad value is
// hcommInvalidArgument and names the variable, the value, where it was set and what is legal; so is a line of a file that is
// no NAME=VALUE. An unknown HCOMM_ name is a warning that names the nearest known one. An empty value counts as unset.
// docs/knobs.md tells each knob to its users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/parse_network.h"
#include "base/status.h"

namespace hcomm {

enum class Tuner : std::uint8_t { model, rules };

constexpr std::string_view name(Tuner tuner) {
  switch (tuner) {
    case Tuner::model: return "model";
    case Tuner::rules: return "rules";
  }
  unreachable();
}

// Whether the expression of an element may depend on more than the call, the ranks, their layout and the settings.
enum class Determinism : std::uint8_t { off, on };

constexpr std::string_view name(Determinism determinism) {
  switch (determinism) {
    case Determinism::off: return "off";
    case Determinism::on:  return "on";
  }
  unreachable();
}

enum class SocketFamily : std::uint8_t { inet, inet6, both };

constexpr std::string_view name(SocketFamily family) {
  switch (family) {
    case SocketFamily::inet:  return "inet";
    case SocketFamily::inet6: return "inet6";
    case SocketFamily::both:  return "both";
  }
  unreachable();
}

enum class Check : std::uint8_t { off, signature };

constexpr std::string_view name(Check check) {
  switch (check) {
    case Check::off:       return "off";
    case Check::signature: return "signature";
  }
  unreachable();
}

inline constexpr std::size_t kMaxKnobLength = 1024;  // of a value
inline constexpr int kMaxSlotsKnob = 8;              // is kMaxSlots of schedule/problem.h; a test compares them
inline constexpr std::size_t kMinUnitBytes = 64;     // of a chunk and of a slot
inline constexpr std::size_t kMaxUnitBytes = std::size_t{1} << 30;

// All settings, typed. Copied into each communicator when it is made; later changes of the environment do not reach it.
struct Settings {
  std::string algo = "adaptive";           // HCOMM_ALGO: adaptive or an algorithm's name; checked by plan, which knows them
  TimeNs timeout_ns = 1836 * kSecond;      // HCOMM_TIMEOUT; kNever for 0
  TimeNs connect_timeout_ns = 120 * kSecond;  // HCOMM_CONNECT_TIMEOUT
  TimeNs peer_timeout_ns = 20 * kSecond;   // HCOMM_PEER_TIMEOUT
  std::string transport;                   // HCOMM_TRANSPORT: "" all, best first; "shm,loopback"; "^shm"
  std::size_t chunk_bytes = 4u << 20;      // HCOMM_CHUNK_SIZE
  std::size_t buffer_bytes = 0;            // HCOMM_BUFFSIZE: bytes of one slot; 0: computed
  int slots = 0;                           // HCOMM_SLOTS: 0: computed
  Tuner tuner = Tuner::model;              // HCOMM_TUNER
  Check check = Check::signature;          // HCOMM_CHECK
  Determinism determinism = Determinism::on;  // HCOMM_DETERMINISTIC
  std::string kernels;                     // HCOMM_KERNELS: "" the best that runs here
  LogLevel debug = LogLevel::warn;         // HCOMM_DEBUG
  std::string secret_file;                 // HCOMM_SECRET_FILE: "" none
  bool trusted_net = false;                // HCOMM_TRUSTED_NET
  std::string host_id;                     // HCOMM_HOST_ID: "" found out
  std::string socket_ifname;               // HCOMM_SOCKET_IFNAME: "" all; see NameFilter
  SocketFamily socket_family = SocketFamily::both;  // HCOMM_SOCKET_FAMILY
  PortRange port_range;                    // HCOMM_PORT_RANGE
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
  std::vector<std::string> environment_names;              // that begin with HCOMM_, for the unknown-name warning
  std::vector<std::pair<std::string, std::string>> files;  // (name shown, contents), highest first
  std::vector<std::string> warnings;                       // about sources that could not be read
};
KnobSources process_sources();

struct KnobReading {
  Settings settings;
  std::vector<KnobValue> values;      // in table order
  std::vector<std::string> warnings;  // one line each
};
Result<KnobReading> read_knobs(const KnobSources& sources);

// One line of "NAME=value;..." of the knobs that must agree, for the check at init; the same for values that mean the same.
std::string agreement_text(const KnobReading& reading);

// What a launcher tells (HCOMM_RANK and its kin are not knobs but facts); null when unset or empty.
std::optional<std::string> launch_variable(std::string_view name);

}  // namespace hcomm
