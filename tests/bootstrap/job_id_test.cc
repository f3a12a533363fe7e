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
  for (const std::size_t at : {0ul, 7ul, 8ul, 9ul, 15ul, 64ul, 127ul}) {
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

TEST_CASE("secrets are compared whole") {
  const JobId id = some_id();
  JobId other = id;
  CHECK(same_secret(id.secret, other.secret));
  for (std::size_t at = 0; at < other.secret.size(); ++at) {
    other = id;
    other.secret[at] ^= std::byte{0x80};
    CHECK_FALSE(same_secret(id.secret, other.secret));
  }
  CHECK_FALSE(same_secret(ConstBytes(id.secret).first(31), id.secret));
}

}  // namespace
}  // namespace hcomm
