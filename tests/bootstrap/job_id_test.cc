#include "bootstrap/job_id.h"

#include <catch2/catch.hpp>

namespace hcomm {
namespace {

JobId some_id() { return make_job_id().value(); }

TEST_CASE("an id survives its bytes and its text") {
  const JobId id = some_id();
  CHECK(job_id_from_bytes(to_bytes(id)).value() == id);
  CHECK(to_hex(id).size() == 256);
  CHECK(job_id_from_hex(to_hex(id)).value() == id);
}

TEST_CASE("an id carries its coordinator's host and addresses") {
  JobId id = some_id();
  id.host = host_id("somewhere");
  for (std::uint16_t port = 1; port <= kMaxJobAddresses; ++port) {
    id.at.push_back({.family = Family::inet6, .port = port, .bytes = host_id("any")});
    CHECK(job_id_from_bytes(to_bytes(id)).value() == id);
    CHECK(job_id_from_hex(to_hex(id)).value() == id);
  }
}

TEST_CASE("two ids share neither name nor secret") {
  const JobId one = some_id();
  const JobId other = some_id();
  CHECK(one.name != other.name);
  CHECK(one.secret != other.secret);
}

TEST_CASE("an id that is zero, short, foreign, of another version or padded is refused") {
  JobIdBytes bytes = to_bytes(some_id());
  CHECK(job_id_from_bytes(JobIdBytes{}).status().code() == hcommInvalidArgument);
  CHECK_FALSE(job_id_from_bytes(ConstBytes(bytes).first(127)).ok());
  for (const std::size_t at : {0ul, 3ul, 4ul, 5ul, 6ul, 62ul, 127ul}) {
    JobIdBytes spoiled = bytes;
    spoiled[at] ^= std::byte{1};
    INFO("byte " << at);
    CHECK_FALSE(job_id_from_bytes(spoiled).ok());
  }
}

TEST_CASE("text that is not 256 hexadecimal digits is refused") {
  const std::string text = to_hex(some_id());
  CHECK_FALSE(job_id_from_hex("").ok());
  CHECK_FALSE(job_id_from_hex(text + "0").ok());
  CHECK_FALSE(job_id_from_hex(text.substr(1)).ok());
  std::string spoiled = text;
  spoiled[40] = 'g';
  const Result<JobId> refused = job_id_from_hex(spoiled);
  CHECK(refused.status().code() == hcommInvalidArgument);
  CHECK(refused.status().trail().find("character 40") != std::string_view::npos);
}

}  // namespace
}  // namespace hcomm
