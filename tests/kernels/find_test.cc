#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "kernels/sets.h"
#include "support.h"

namespace hcomm::test {

TEST_CASE("every type has a name of its own and a size") {
  std::set<std::string_view> names;
  for (int i = hcommInt8; i <= hcommComplex128; ++i) {
    const auto dtype = static_cast<hcommDataType_t>(i);
    names.insert(name(dtype));
    CHECK(element_bytes(dtype) > 0);
  }
  CHECK(names.size() == 17);
  CHECK(names.count("?") == 0);
  CHECK(name(hcommFloat8e4m3) == "float8e4m3");
  CHECK(name(hcommBfloat16) == "bfloat16");
  CHECK(element_bytes(hcommBool) == 1);
  CHECK(element_bytes(hcommUint16) == 2);
  CHECK(element_bytes(hcommComplex64) == 8);
  CHECK(element_bytes(hcommComplex128) == 16);
  const auto unknown = static_cast<hcommDataType_t>(30);
  CHECK(name(unknown) == "?");
  CHECK(element_bytes(unknown) == 0);
  CHECK(name(hcommProd) == "prod");
  CHECK(name(static_cast<hcommRedOp_t>(11)) == "?");
}

TEST_CASE("every type and operation is printed once, and has its number") {
  CHECK(combine_types().size() == 17);
  CHECK(std::set(combine_types().begin(), combine_types().end()).size() == 17);
  std::set<std::string_view> names;
  for (int i = hcommSum; i <= hcommBxor; ++i) names.insert(name(static_cast<hcommRedOp_t>(i)));
  CHECK(names.size() == 11);
  CHECK(names.count("?") == 0);
  CHECK(std::set(combine_ops().begin(), combine_ops().end()).size() == 11);
}

TEST_CASE("partial results are as wide as their operation asks") {
  for (const auto& [dtype, op] : all_types_and_ops()) {
    const std::string_view type = name(dtype);
    INFO(type << ' ' << name(op));
    const std::size_t bytes = element_bytes(dtype);
    const bool is_integer = type.find("int") != std::string_view::npos;
    const std::size_t mean = bytes == 8 ? 16 : 8;
    const std::size_t expected = is_integer && op == hcommAvg ? mean : type.find("float") == std::string_view::npos ? bytes
                                                                                           : std::max<std::size_t>(bytes, 4);
    CHECK(partial_bytes(dtype, op) == expected);
    const bool loses = (op == hcommAvg && (is_integer || dtype == hcommFloat16)) ||
                       (type.starts_with("float8") && op != hcommMin && op != hcommMax);
    CHECK(sums_fit_elements(dtype, op) == !loses);
  }
  CHECK(partial_bytes(hcommBool, hcommAvg) == 0);
  CHECK(partial_bytes(static_cast<hcommDataType_t>(30), hcommSum) == 0);
}

TEST_CASE("every set offers every type with its operations, and no set is the best one") {
  const auto sets = kernel_sets();
  REQUIRE(!sets.empty());
  CHECK(sets.front() == "scalar");
  std::size_t own = 0;  // kinds for which every set has a kernel of its own; the others share that of plain.cc
  for (const auto& [dtype, op] : all_types_and_ops()) {
    std::set<CombineKernel> kernels;
    for (const std::string_view set : sets) kernels.insert(find_combine(dtype, op, set).value());
    CHECK(kernels.count(find_scalar(dtype, op)) == 1);  // which no other set passes off as its own:
    const bool is_plain = kernels.size() == 2 && sets.size() != 2;
    CHECK((is_plain || kernels.size() == sets.size()));
    if (kernels.size() == sets.size()) ++own;
    if (op == hcommSum && !std::string_view(name(dtype)).starts_with("float8") && dtype != hcommBool) CHECK(!is_plain);
    CHECK(find_combine(dtype, op).value() == find_combine(dtype, op, sets.back()).value());
  }
  CHECK(own >= 70);
}

TEST_CASE("docs/types.md has the table of what there is") {
  std::string table = "| type |";
  for (const hcommRedOp_t op : combine_ops()) table += " " + std::string(name(op)) + " |";
  table += "\n|---|";
  for (std::size_t i = 0; i < combine_ops().size(); ++i) table += "---|";
  for (const hcommDataType_t dtype : combine_types()) {
    table += "\n| " + std::string(name(dtype)) + " |";
    for (const hcommRedOp_t op : combine_ops()) table += has_op(dtype, op) ? " yes |" : " - |";
  }
  std::ifstream file(HCOMM_DOCS_FOLDER "/types.md");
  std::ostringstream text;
  text << file.rdbuf();
  INFO(table);
  CHECK(text.str().find(table + "\n\n") != std::string::npos);
}

TEST_CASE("what a type does not have is refused with what it has") {
  const auto refusal = [](hcommDataType_t dtype, hcommRedOp_t op, std::string_view set = {}) {
    const auto found = find_combine(dtype, op, set);
    REQUIRE(!found.ok());
    CHECK(found.status().code() == hcommInvalidArgument);
    return std::string(found.status().trail());
  };
  CHECK_THAT(refusal(hcommFloat32, hcommSum, "avx1024"), Catch::Contains("'avx1024'; legal here: scalar"));
  CHECK_THAT(refusal(hcommComplex64, hcommMin), Catch::Contains("complex64 does not have"));
  CHECK_THAT(refusal(hcommComplex64, hcommMin), Catch::Contains("'min'; legal here: sum, prod, avg"));
  CHECK_THAT(refusal(hcommFloat32, hcommBand), Catch::Contains("'band'; legal here: sum, prod, min, max, avg"));
  CHECK_THAT(refusal(static_cast<hcommDataType_t>(30), hcommSum), Catch::Contains("'30'; legal here: int8, uint8"));
  std::size_t refused = 0;
  for (const hcommDataType_t dtype : combine_types()) {
    for (const hcommRedOp_t op : combine_ops()) {
      CHECK(find_combine(dtype, op).ok() == has_op(dtype, op));
      CHECK((find_scalar(dtype, op) != nullptr) == has_op(dtype, op));
      refused += has_op(dtype, op) ? 0 : 1;
    }
  }
  CHECK(refused == 1 + 6 * 6 + 2 * 8);  // bool has no avg, floats no logic, complex numbers no order either
}

}  // namespace hcomm::test
