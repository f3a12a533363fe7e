#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <string>

#include "kernels/combine.h"

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
  CHECK(name(static_cast<hcommRedOp_t>(7)) == "?");
}

TEST_CASE("partial results of 16 bit floats are fp32, others keep their type") {
  for (const hcommDataType_t dtype : combine_types()) {
    CHECK(partial_bytes(dtype) == (element_bytes(dtype) == 2 ? 4 : element_bytes(dtype)));
  }
  CHECK(partial_bytes(hcommInt8) == 0);
}

TEST_CASE("every set offers every type and operation, and no set is the best one") {
  const auto sets = kernel_sets();
  REQUIRE(!sets.empty());
  CHECK(sets.front() == "scalar");
  for (const hcommDataType_t dtype : combine_types()) {
    for (const hcommRedOp_t op : combine_ops()) {
      std::set<CombineKernel> kernels;
      for (const std::string_view set : sets) kernels.insert(find_combine(dtype, op, set).value());
      CHECK(kernels.size() == sets.size());  // no set passes off the kernels of another as its own
      CHECK(find_combine(dtype, op).value() == find_combine(dtype, op, sets.back()).value());
    }
  }
}

TEST_CASE("what is not offered is refused with the legal names") {
  const auto bad_set = find_combine(hcommFloat32, hcommSum, "avx1024");
  REQUIRE(!bad_set.ok());
  CHECK(bad_set.status().code() == hcommInvalidArgument);
  CHECK(std::string(bad_set.status().trail()).find("'avx1024'; legal here: scalar") != std::string::npos);
  const auto bad_type = find_combine(hcommComplex64, hcommSum);
  REQUIRE(!bad_type.ok());
  CHECK(bad_type.status().code() == hcommInvalidArgument);
  CHECK(std::string(bad_type.status().trail()).find("'complex64'; legal here: int32, int64, float16") != std::string::npos);
  const auto bad_op = find_combine(hcommFloat32, hcommProd);
  REQUIRE(!bad_op.ok());
  CHECK(bad_op.status().code() == hcommInvalidArgument);
  CHECK(std::string(bad_op.status().trail()).find("'prod'; legal here: sum, min, max") != std::string::npos);
}

}  // namespace hcomm::test
