// Goal: every value that a person can set has one documented meaning or one helpful error, wherever it was set.
// Method: tables of values; sources made up here, and once the real ones.
#include "base/knobs.h"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernels/combine.h"
#include "schedule/problem.h"
#include "temp_folder.h"

namespace hcomm {
namespace {

static_assert(kMaxSlotsKnob == kMaxSlots);

using Variables = std::map<std::string, std::string>;

KnobSources sources_of(const Variables& variables, std::vector<std::pair<std::string, std::string>> files = {}) {
  KnobSources sources;
  sources.environment = [variables](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(std::string(name));
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  for (const auto& [name, value] : variables) sources.environment_names.push_back(name);
  sources.files = std::move(files);
  return sources;
}

Result<KnobReading> read(const Variables& variables) { return read_knobs(sources_of(variables)); }

const KnobValue& value_of(const KnobReading& reading, std::string_view name) {
  for (const KnobValue& value : reading.values) {
    if (value.knob->name == name) return value;
  }
  FAIL("no value of " << name);
  return reading.values.front();
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

TEST_CASE("each knob introduces itself once") {
  std::set<std::string_view> names;
  for (const Knob& knob : knobs()) {
    INFO(knob.name);
    CHECK(knob.name.starts_with("HCOMM_"));
    CHECK(names.insert(knob.name).second);
    CHECK_FALSE(knob.grammar.empty());
    CHECK_FALSE(knob.help.empty());
  }
  CHECK(knobs().size() == 20);
}

TEST_CASE("without any source the settings are the defaults, and the table says the same") {
  const Result<KnobReading> reading = read({});
  REQUIRE(reading.ok());
  CHECK(reading.value().warnings.empty());
  REQUIRE(reading.value().values.size() == knobs().size());

  Variables written;
  for (const KnobValue& value : reading.value().values) {
    CHECK(value.source == "default");
    CHECK(value.value == value.knob->default_text);
    written[std::string(value.knob->name)] = value.value;
  }
  // Set to its default text, a knob means what it means when unset.
  const Result<KnobReading> again = read(written);
  REQUIRE(again.ok());
  const Settings& given = again.value().settings;
  const Settings plain;
  CHECK(given.algo == plain.algo);
  CHECK(given.timeout_ns == plain.timeout_ns);
  CHECK(given.connect_timeout_ns == plain.connect_timeout_ns);
  CHECK(given.peer_timeout_ns == plain.peer_timeout_ns);
  CHECK(given.transport == plain.transport);
  CHECK(given.chunk_bytes == plain.chunk_bytes);
  CHECK(given.buffer_bytes == plain.buffer_bytes);
  CHECK(given.slots == plain.slots);
  CHECK(given.tuner == plain.tuner);
  CHECK(given.check == plain.check);
  CHECK(given.determinism == plain.determinism);
  CHECK(given.kernels == plain.kernels);
  CHECK(given.debug == plain.debug);
  CHECK(given.debug_file == plain.debug_file);
}

TEST_CASE("legal values become settings") {
  const Result<KnobReading> reading = read({{"HCOMM_ALGO", "ring"},
                                            {"HCOMM_TIMEOUT", "0"},
                                            {"HCOMM_CONNECT_TIMEOUT", "1.5s"},
                                            {"HCOMM_PEER_TIMEOUT", "500ms"},
                                            {"HCOMM_TRANSPORT", "shm,loopback"},
                                            {"HCOMM_CHUNK_SIZE", "256K"},
                                            {"HCOMM_BUFFSIZE", "64"},
                                            {"HCOMM_SLOTS", "1"},
                                            {"HCOMM_TUNER", "rules"},
                                            {"HCOMM_CHECK", "off"},
                                            {"HCOMM_DETERMINISTIC", "off"},
                                            {"HCOMM_KERNELS", "Scalar"},
                                            {"HCOMM_HOST_ID", "left; 2"},
                                            {"HCOMM_SECRET_FILE", "/run/secret"},
                                            {"HCOMM_TRUSTED_NET", "1"},
                                            {"HCOMM_SOCKET_IFNAME", "^=eth0,lo"},
                                            {"HCOMM_SOCKET_FAMILY", "INET6"},
                                            {"HCOMM_PORT_RANGE", "60000-60100"},
                                            {"HCOMM_DEBUG", "INFO"},
                                            {"HCOMM_DEBUG_FILE", "log.%h.%p.%r"}});
  REQUIRE(reading.ok());
  const Settings& settings = reading.value().settings;
  CHECK(settings.algo == "ring");
  CHECK(settings.timeout_ns == kNever);
  CHECK(settings.connect_timeout_ns == 1500 * kMillisecond);
  CHECK(settings.peer_timeout_ns == 500 * kMillisecond);
  CHECK(settings.transport == "shm,loopback");
  CHECK(settings.chunk_bytes == 256 * 1024);
  CHECK(settings.buffer_bytes == 64);
  CHECK(settings.slots == 1);
  CHECK(settings.tuner == Tuner::rules);
  CHECK(settings.check == Check::off);
  CHECK(settings.determinism == Determinism::off);
  CHECK(settings.kernels == "scalar");
  CHECK(settings.host_id == "left; 2");
  CHECK(settings.secret_file == "/run/secret");
  CHECK(settings.trusted_net);
  CHECK(settings.socket_ifname == "^=eth0,lo");
  CHECK(settings.socket_family == SocketFamily::inet6);
  CHECK(settings.port_range == PortRange{60000, 60100});
  CHECK(settings.debug == LogLevel::info);
  CHECK(settings.debug_file == "log.%h.%p.%r");
  CHECK(reading.value().warnings.empty());
  CHECK(value_of(reading.value(), "HCOMM_CHUNK_SIZE").value == "256K");
  CHECK(value_of(reading.value(), "HCOMM_CHUNK_SIZE").source == "environment");
}

TEST_CASE("bad values are refused with name, value, place and what is legal") {
  struct Row {
    std::string name;
    std::string value;
    std::string hint;
  };
  const std::vector<Row> rows = {
      {"HCOMM_TIMEOUT", "abc", "0 is never"},
      {"HCOMM_TIMEOUT", "-1", "0 is never"},
      {"HCOMM_TIMEOUT", " 5 ", "0 is never"},
      {"HCOMM_TIMEOUT", "5x", "0 is never"},
      {"HCOMM_TIMEOUT", "nan", "0 is never"},
      {"HCOMM_TIMEOUT", "inf", "0 is never"},
      {"HCOMM_TIMEOUT", "0x10", "0 is never"},
      {"HCOMM_TIMEOUT", "1e3", "0 is never"},
      {"HCOMM_TIMEOUT", "1e9", "0 is never"},
      {"HCOMM_CONNECT_TIMEOUT", "soon", "0 is never"},
      {"HCOMM_PEER_TIMEOUT", "1 s", "0 is never"},
      {"HCOMM_CHUNK_SIZE", "63", "from 64 to 1G"},
      {"HCOMM_CHUNK_SIZE", "0", "from 64 to 1G"},
      {"HCOMM_CHUNK_SIZE", "1025M", "from 64 to 1G"},
      {"HCOMM_CHUNK_SIZE", "4MB", "from 64 to 1G"},
      {"HCOMM_BUFFSIZE", "99999999999999999999", "from 64 to 1G"},
      {"HCOMM_TRUSTED_NET", "yes", "0 or 1"},
      {"HCOMM_SLOTS", "0", "from 1 to 8"},
      {"HCOMM_SLOTS", "9", "from 1 to 8"},
      {"HCOMM_SLOTS", "two", "from 1 to 8"},
      {"HCOMM_TUNER", "modle", "did you mean model?"},
      {"HCOMM_CHECK", "data", "data is not there yet"},
      {"HCOMM_CHECK", "signatur", "did you mean signature?"},
      {"HCOMM_DETERMINISTIC", "strict", "strict is not there yet"},
      {"HCOMM_KERNELS", "avx", "did you mean avx2?"},
      {"HCOMM_KERNELS", "mmx", "scalar, sse4, avx2, avx512 or neon"},
      {"HCOMM_SOCKET_IFNAME", "lo,", "after ^ those not wanted"},
      {"HCOMM_SOCKET_FAMILY", "ipv4", "inet, inet6 or both"},
      {"HCOMM_SOCKET_FAMILY", "inet7", "did you mean inet"},
      {"HCOMM_PORT_RANGE", "60000", "such as 60000-60100"},
      {"HCOMM_DEBUG", "wran", "did you mean warn?"},
      {"HCOMM_DEBUG", "3", "none, error, warn, info or trace"},
      {"HCOMM_TRANSPORT", "shm,", "shm,loopback"},
      {"HCOMM_TRANSPORT", "^", "shm,loopback"},
      {"HCOMM_TRANSPORT", "shm loopback", "shm,loopback"},
      {"HCOMM_TRANSPORT", "shm,^loopback", "shm,loopback"},
  };
  for (const Row& row : rows) {
    INFO(row.name << "=" << row.value);
    const Result<KnobReading> reading = read({{row.name, row.value}});
    REQUIRE_FALSE(reading.ok());
    CHECK(reading.status().code() == hcommInvalidArgument);
    CHECK(contains(reading.status().trail(), row.name + "='" + row.value + "' (environment)"));
    CHECK(contains(reading.status().trail(), row.hint));
  }
}

TEST_CASE("a huge timeout never fires early") {
  for (const char* huge : {"9223372036854775807", "99999999999999999999"}) {
    CHECK(read({{"HCOMM_TIMEOUT", huge}}).value().settings.timeout_ns == kNever);
  }
  CHECK(read({{"HCOMM_TIMEOUT", "0.5"}}).value().settings.timeout_ns == 500 * kMillisecond);
  CHECK(read({{"HCOMM_TIMEOUT", "10s"}}).value().settings.timeout_ns == 10 * kSecond);
}

TEST_CASE("every knob has a limit on its length, and errors stay short") {
  for (const Knob& knob : knobs()) {
    INFO(knob.name);
    const Result<KnobReading> reading = read({{std::string(knob.name), std::string(100000, 'a')}});
    REQUIRE_FALSE(reading.ok());
    CHECK(reading.status().trail().size() < 500);
    CHECK(contains(reading.status().trail(), "at most 1024 characters"));
  }
}

TEST_CASE("an empty value counts as unset") {
  for (const Knob& knob : knobs()) {
    INFO(knob.name);
    const Result<KnobReading> reading = read({{std::string(knob.name), ""}});
    REQUIRE(reading.ok());
    CHECK(value_of(reading.value(), knob.name).source == "default");
  }
}

TEST_CASE("the environment comes before the user's file, and that before the machine's") {
  const std::vector<std::pair<std::string, std::string>> files = {
      {"~/.hcomm.conf", "# mine\n\nHCOMM_SLOTS=2\n  HCOMM_ALGO = flat  # quick\nHCOMM_TUNER=\n"},
      {"/etc/hcomm.conf", "HCOMM_SLOTS=3\r\nHCOMM_ALGO=direct\nHCOMM_TUNER=rules\nHCOMM_TIMEOUT=5\nHCOMM_TIMEOUT=6"},
  };
  const Result<KnobReading> reading = read_knobs(sources_of({{"HCOMM_SLOTS", "1"}, {"HCOMM_ALGO", ""}}, files));
  REQUIRE(reading.ok());
  CHECK(reading.value().warnings.empty());
  struct Row {
    std::string_view name;
    std::string_view value;
    std::string_view source;
  };
  for (const Row& row : {Row{"HCOMM_SLOTS", "1", "environment"}, Row{"HCOMM_ALGO", "flat", "~/.hcomm.conf:4"},
                         Row{"HCOMM_TUNER", "rules", "/etc/hcomm.conf:3"}, Row{"HCOMM_TIMEOUT", "6", "/etc/hcomm.conf:5"},
                         Row{"HCOMM_DEBUG", "warn", "default"}}) {
    INFO(row.name);
    CHECK(value_of(reading.value(), row.name).value == row.value);
    CHECK(value_of(reading.value(), row.name).source == row.source);
  }
  CHECK(reading.value().settings.timeout_ns == 6 * kSecond);
}

TEST_CASE("errors in a file name the file and the line") {
  const auto trail_of = [](const std::string& contents) {
    const Result<KnobReading> reading = read_knobs(sources_of({}, {{"~/.hcomm.conf", contents}}));
    REQUIRE_FALSE(reading.ok());
    CHECK(reading.status().code() == hcommInvalidArgument);
    return std::string(reading.status().trail());
  };
  CHECK(contains(trail_of("HCOMM_ALGO=ring\nHCOMM_SLOTS=x\n"), "HCOMM_SLOTS='x' (~/.hcomm.conf:2)"));
  CHECK(contains(trail_of("\n\nalgo ring\n"), "~/.hcomm.conf:3: 'algo ring'"));
  CHECK(contains(trail_of("=ring"), "~/.hcomm.conf:1"));
  CHECK(contains(trail_of(std::string("\0\0\0", 3)), "~/.hcomm.conf:1"));
}

TEST_CASE("a comment starts a line or follows a blank") {
  const std::string contents = "#HCOMM_SLOTS=9\nHCOMM_DEBUG_FILE=/logs/a#b # the one with the odd name\n";
  const Result<KnobReading> reading = read_knobs(sources_of({}, {{"/etc/hcomm.conf", contents}}));
  REQUIRE(reading.ok());
  CHECK(reading.value().settings.debug_file == "/logs/a#b");
  CHECK(reading.value().settings.slots == 0);
}

TEST_CASE("unknown names are warned about, known strangers are not") {
  const Result<KnobReading> reading = read_knobs(sources_of({{"HCOMM_TIMOUT", "5"},
                                                             {"HCOMM_FOO", "1"},
                                                             {"HCOMM_RANK", "0"},
                                                             {"HCOMM_SIZE", "1"},
                                                             {"HCOMM_JOB", "x"},
                                                             {"HCOMM_RENDEZVOUS", "h:1"},
                                                             {"HCOMM_DEBUG_CONFIG", "x"},
                                                             {"HCOMM_TA_ANYTHING", "x"},
                                                             {"HCOMM_NIC_PLUGIN_SO", "x"},
                                                             {"PATH", "/bin"}},
                                                            {{"/etc/hcomm.conf", "ALGO=ring\nHCOMM_RANK=1\n"}}));
  REQUIRE(reading.ok());
  const std::vector<std::string>& warnings = reading.value().warnings;
  REQUIRE(warnings.size() == 4);
  CHECK(warnings[0] == "HCOMM_FOO (environment) is no knob of hcomm and is ignored");
  CHECK(warnings[1] == "HCOMM_TIMOUT (environment) is no knob of hcomm and is ignored; did you mean HCOMM_TIMEOUT?");
  CHECK(warnings[2] == "ALGO (/etc/hcomm.conf:1) is no knob of hcomm and is ignored; did you mean HCOMM_ALGO?");
  CHECK(contains(warnings[3], "HCOMM_RANK (/etc/hcomm.conf:2) is ignored"));
}

TEST_CASE("agreement texts are the same when settings mean the same, and differ with each knob that must agree") {
  const auto text_of = [](const Variables& variables) { return agreement_text(read(variables).value()); };
  const std::string plain = text_of({});
  CHECK(text_of({{"HCOMM_CHUNK_SIZE", "4096K"}}) == plain);
  CHECK(text_of({{"HCOMM_TIMEOUT", "1"}, {"HCOMM_DEBUG", "info"}, {"HCOMM_KERNELS", "scalar"}}) == plain);

  const Variables changes = {{"HCOMM_ALGO", "ring"},    {"HCOMM_TRANSPORT", "shm"}, {"HCOMM_CHUNK_SIZE", "1M"},
                             {"HCOMM_BUFFSIZE", "64K"}, {"HCOMM_SLOTS", "1"},       {"HCOMM_TUNER", "rules"},
                             {"HCOMM_CHECK", "off"},    {"HCOMM_DETERMINISTIC", "off"}};
  for (const auto& [name, value] : changes) {
    INFO(name);
    const std::string changed = text_of({{name, value}});
    CHECK(changed != plain);
  }
  for (const Knob& knob : knobs()) CHECK(knob.must_agree == changes.contains(std::string(knob.name)));
  CHECK(text_of({{"HCOMM_ALGO", "a;HCOMM_X=b"}}).starts_with("HCOMM_ALGO=a,HCOMM_X=b;"));  // ';' parts the knobs alone
}

TEST_CASE("every kernel set of this machine can be asked for") {
  for (const std::string_view set : kernel_sets()) {
    INFO(set);
    const Result<KnobReading> reading = read({{"HCOMM_KERNELS", std::string(set)}});
    REQUIRE(reading.ok());
    CHECK(reading.value().settings.kernels == set);
  }
}

// Sets a variable of this process for the life of this object.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = ::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (old_) {
      setenv(name_, old_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST_CASE("the real sources are the environment and the user's file") {
  const TempFolder home;
  std::ofstream(home.file(".hcomm.conf")) << "HCOMM_SLOTS=3\n";
  const Variable home_is("HOME", home.file(""));
  const Variable slots("HCOMM_SLOTS", "");  // a run of all tests with one slot sets it
  const Variable peer_timeout("HCOMM_PEER_TIMEOUT", "7s");
  const Variable typo("HCOMM_PEER_TIMOUT", "7s");
  const Variable rank("HCOMM_RANK", "5");
  const Variable job("HCOMM_JOB", "");
  const Result<KnobReading> reading = read_knobs(process_sources());
  REQUIRE(reading.ok());
  CHECK(reading.value().settings.peer_timeout_ns == 7 * kSecond);
  CHECK(reading.value().settings.slots == 3);
  CHECK(value_of(reading.value(), "HCOMM_SLOTS").source == "~/.hcomm.conf:1");
  CHECK(reading.value().warnings.size() == 1);
  CHECK(launch_variable("HCOMM_RANK") == "5");
  CHECK_FALSE(launch_variable("HCOMM_JOB").has_value());
  CHECK_FALSE(launch_variable("HCOMM_NOT_SET_BY_ANYBODY").has_value());
}

TEST_CASE("a file that is none, or too long, is warned about and ignored") {
  const TempFolder home;
  const Variable home_is("HOME", home.file(""));
  const Variable slots("HCOMM_SLOTS", "");  // a run of all tests with one slot sets it
  SECTION("a folder") { std::filesystem::create_directory(home.file(".hcomm.conf")); }
  SECTION("too long") { std::ofstream(home.file(".hcomm.conf")) << std::string(100000, '\n') << "HCOMM_SLOTS=3\n"; }
  const Result<KnobReading> reading = read_knobs(process_sources());
  REQUIRE(reading.ok());
  CHECK(reading.value().settings.slots == 0);
  REQUIRE(reading.value().warnings.size() == 1);
  CHECK(contains(reading.value().warnings[0], "~/.hcomm.conf is ignored"));
}

}  // namespace
}  // namespace hcomm
