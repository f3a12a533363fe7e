#include "bootstrap/rank_table.h"

#include <catch2/catch.hpp>

namespace hcomm {
namespace {

using Catch::Matchers::Contains;
using Servers = std::vector<std::string>;

std::string with(std::string text, const std::string& what, const std::string& instead) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), instead);
}

std::string refused(const std::string& text) {
  const Result<RankTable> table = parse_rank_table(text);
  if (table.ok()) return "(accepted)";
  CHECK(table.status().code() == hcommInvalidArgument);
  return std::string(table.status().trail());
}

// Two servers with two devices each, the ranks not in order.
const std::string kQuoted = R"({"status": "completed", "version": "1.0", "server_count": "2", "server_list": [
  {"server_id": "10.0.0.2", "device": [{"device_id": "0", "device_ip": "192.168.1.8", "rank_id": "3"},
                                       {"device_id": "1", "device_ip": "192.168.1.9", "rank_id": "0"}]},
  {"server_id": "10.0.0.1", "device": [{"device_id": "0", "device_ip": "192.168.1.6", "rank_id": "1"},
                                       {"device_id": "1", "device_ip": "192.168.1.7", "rank_id": "2"}]}]})";

const std::string kNumbered = R"({"version": "2.0", "rank_count": 2, "status": "completed", "rank_list": [
  {"rank_id": 1, "device_id": 1, "local_id": 1, "level_list": [
    {"net_layer": 0, "net_instance_id": "host-a", "net_type": "TOPO_FILE_DESC",
     "rank_addr_list": [{"addr_type": "IPV4", "addr": "10.0.0.8", "ports": ["0/1"]}]}]},
  {"rank_id": 0, "device_id": 0, "local_id": 0, "level_list": [
    {"net_layer": 1, "net_instance_id": "pod", "rank_addr_list": [{"addr": "10.9.9.9"}]},
    {"net_layer": 0, "net_instance_id": "host-a", "rank_addr_list": [{"addr_type": "IPV4", "addr": "10.0.0.7"}]}]}]})";

TEST_CASE("a table of version 1 says which rank is on which server") {
  const RankTable table = parse_rank_table(kQuoted).value();
  CHECK(table.servers == Servers{"10.0.0.2", "10.0.0.1", "10.0.0.1", "10.0.0.2"});
  CHECK(table.first_address == "10.0.0.2");
  CHECK_FALSE(table.one_host());
  CHECK(parse_rank_table(with(kQuoted, "\"1.0\"", "\"1.2\"")).ok());
}

TEST_CASE("the address of the host itself counts more than the server's id") {
  const std::string named = with(kQuoted, "\"10.0.0.2\",", "\"rack7\", \"host_ip\": \"10.0.0.2\",");
  const RankTable table = parse_rank_table(named).value();
  CHECK(table.servers.front() == "rack7");
  CHECK(table.first_address == "10.0.0.2");
}

TEST_CASE("a table of version 2 says which rank is on which server") {
  const RankTable table = parse_rank_table(kNumbered).value();
  CHECK(table.servers == Servers{"host-a", "host-a"});
  CHECK(table.first_address == "10.0.0.7");
  CHECK(table.one_host());
  CHECK_FALSE(parse_rank_table(with(kNumbered, "host-a", "host-b")).value().one_host());
}

TEST_CASE("ranks are unique and complete, or the server and device are named") {
  CHECK_THAT(refused(with(kQuoted, "\"rank_id\": \"3\"", "\"rank_id\": \"1\"")),
             Contains("server 1 (10.0.0.1), device 0: rank_id is 1, which server 0 (10.0.0.2), device 0 has already"));
  CHECK_THAT(refused(with(kQuoted, "\"rank_id\": \"3\"", "\"rank_id\": \"4\"")), Contains("rank_id 3 is missing"));
  CHECK_THAT(refused(with(kQuoted, "\"rank_id\": \"2\"", "\"rank_id\": \"-2\"")),
             Contains("server 1 (10.0.0.1), device 1: rank_id is '-2'; legal are 0 to 4095"));
  CHECK_THAT(refused(with(kQuoted, "\"rank_id\": \"2\"", "\"rank_id\": \"4096\"")), Contains("'4096'"));
  CHECK_THAT(refused(with(kQuoted, "\"rank_id\": \"2\"", "\"rank_id\": [2]")), Contains("a value of type array"));
  CHECK_THAT(refused(with(kQuoted, ", \"rank_id\": \"2\"", "")), Contains("server 1 (10.0.0.1), device 1: rank_id is missing"));
  CHECK_THAT(refused(with(kNumbered, "\"rank_id\": 1", "\"rank_id\": 0")),
             Contains("entry 1 of rank_list: rank_id is 0, which entry 0 of rank_list has already"));
  CHECK_THAT(refused(with(kNumbered, "\"rank_id\": 1", "\"rank_id\": 1.5")), Contains("entry 0 of rank_list"));
}

TEST_CASE("what else is wrong in a table is named with its place") {
  CHECK_THAT(refused(with(kQuoted, "\"server_count\": \"2\"", "\"server_count\": \"3\"")),
             Contains("server_count is '3', but there are 2 entries"));
  CHECK_THAT(refused(with(kNumbered, "\"rank_count\": 2", "\"rank_count\": 4")), Contains("rank_count is 4"));
  CHECK_THAT(refused(with(kQuoted, "completed", "initializing")), Contains("status is 'initializing'"));
  CHECK_THAT(refused(with(kQuoted, "\"1.0\"", "\"3.1\"")), Contains("version is '3.1'; known are 1.x and 2.0"));
  CHECK_THAT(refused(with(kQuoted, "\"version\": \"1.0\", ", "")), Contains("version is missing"));
  CHECK_THAT(refused(with(kQuoted, "\"10.0.0.1\"", "\"10.0.0.2\"")), Contains("another server has this server_id"));
  CHECK_THAT(refused(with(kQuoted, "\"10.0.0.1\"", "7")), Contains("server 1: server_id is 7"));
  CHECK_THAT(refused(with(kQuoted, "\"10.0.0.1\"", "\"\"")), Contains("server 1: server_id"));
  CHECK_THAT(refused(R"({"version": "1.0", "server_list": []})"), Contains("server_list is no list with entries"));
  CHECK_THAT(refused(R"({"version": "1.0", "server_list": [1]})"), Contains("server 0: it is 1 and no object"));
  CHECK_THAT(refused(R"({"version": "1.0", "server_list": [{"server_id": "a"}]})"), Contains("server 0 (a): device"));
  CHECK_THAT(refused(R"({"version": "1.0", "server_list": [{"server_id": "a", "device": [3]}]})"), Contains("device 0"));
  CHECK_THAT(refused(with(kNumbered, "\"net_layer\": 0", "\"net_layer\": 2")), Contains("no entry with net_layer 0"));
  CHECK_THAT(refused(with(kNumbered, "\"addr\": \"10.0.0.8\"", "\"addr\": null")), Contains("entry 0 of rank_list: addr is"));
}

TEST_CASE("what is no table at all is refused, however deep or broken") {
  for (const std::string text : {"", "{", "[]", "3", "null", "\"", "{\"version\": \"1.0\"} x", "\xff\xfe", "{\"a\": 1e999}"}) {
    INFO(text);
    CHECK_THAT(refused(text), Contains("rank table: "));
  }
  CHECK_THAT(refused(std::string(100000, '[')), Contains("nested more than 32 deep"));
  CHECK_THAT(refused(std::string(100000, '{')), Contains("nested more than 32 deep"));
  CHECK_THAT(refused(R"({"a": "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"[[[[[[["})"), Contains("version is missing"));
}

}  // namespace
}  // namespace hcomm
