#include <algorithm>
#include <array>

#include "kernels/combine.h"

namespace hcomm {
namespace {

constexpr std::array kTypes = {hcommInt8,    hcommUint8,   hcommInt16,      hcommUint16,     hcommInt32,     hcommUint32,
                               hcommInt64,   hcommUint64,  hcommBool,       hcommFloat16,    hcommBfloat16,  hcommFloat32,
                               hcommFloat64, hcommFloat8e4m3, hcommFloat8e5m2, hcommComplex64, hcommComplex128};
constexpr std::array kOps = {hcommSum, hcommProd, hcommMin,  hcommMax, hcommAvg, hcommLand,
                             hcommLor, hcommLxor, hcommBand, hcommBor, hcommBxor};
constexpr std::array kBoolOps = {hcommSum, hcommProd, hcommMin,  hcommMax, hcommLand,
                                 hcommLor, hcommLxor, hcommBand, hcommBor, hcommBxor};
constexpr std::array kFloatOps = {hcommSum, hcommProd, hcommMin, hcommMax, hcommAvg};
constexpr std::array kComplexOps = {hcommSum, hcommProd, hcommAvg};

enum class Kind : std::uint8_t { unknown, integer, truth, real, complex };

Kind kind_of(hcommDataType_t dtype) {
  switch (dtype) {
    case hcommInt8:
    case hcommUint8:
    case hcommInt16:
    case hcommUint16:
    case hcommInt32:
    case hcommUint32:
    case hcommInt64:
    case hcommUint64:     return Kind::integer;
    case hcommBool:       return Kind::truth;
    case hcommFloat16:
    case hcommBfloat16:
    case hcommFloat32:
    case hcommFloat64:
    case hcommFloat8e4m3:
    case hcommFloat8e5m2: return Kind::real;
    case hcommComplex64:
    case hcommComplex128: return Kind::complex;
  }
  return Kind::unknown;
}

bool is_logical(hcommRedOp_t op) { return op == hcommLand || op == hcommLor || op == hcommLxor; }

}  // namespace

std::span<const hcommDataType_t> combine_types() { return kTypes; }
std::span<const hcommRedOp_t> combine_ops() { return kOps; }

std::span<const hcommRedOp_t> combine_ops(hcommDataType_t dtype) {
  switch (kind_of(dtype)) {
    case Kind::unknown: return {};
    case Kind::integer: return kOps;
    case Kind::truth:   return kBoolOps;
    case Kind::real:    return kFloatOps;
    case Kind::complex: return kComplexOps;
  }
  unreachable();
}

bool has_op(hcommDataType_t dtype, hcommRedOp_t op) {
  const auto ops = combine_ops(dtype);
  return std::ranges::find(ops, op) != ops.end();
}

bool needs_finish(hcommDataType_t dtype, hcommRedOp_t op, int ranks) {
  return (op == hcommAvg && ranks > 1) || is_logical(op) || kind_of(dtype) == Kind::truth;
}

bool sums_fit_elements(hcommDataType_t dtype, hcommRedOp_t op) {
  if (element_bytes(dtype) == 1 && kind_of(dtype) == Kind::real) return op == hcommMin || op == hcommMax;
  return op != hcommAvg || (kind_of(dtype) != Kind::integer && dtype != hcommFloat16);
}

std::size_t element_bytes(hcommDataType_t dtype) {
  switch (dtype) {
    case hcommInt8:
    case hcommUint8:
    case hcommBool:
    case hcommFloat8e4m3:
    case hcommFloat8e5m2:  return 1;
    case hcommInt16:
    case hcommUint16:
    case hcommFloat16:
    case hcommBfloat16:    return 2;
    case hcommInt32:
    case hcommUint32:
    case hcommFloat32:     return 4;
    case hcommInt64:
    case hcommUint64:
    case hcommFloat64:
    case hcommComplex64:   return 8;
    case hcommComplex128:  return 16;
  }
  return 0;
}

std::size_t partial_bytes(hcommDataType_t dtype, hcommRedOp_t op) {
  if (!has_op(dtype, op)) return 0;
  const std::size_t bytes = element_bytes(dtype);
  if (kind_of(dtype) == Kind::real) return std::max(bytes, sizeof(float));
  if (kind_of(dtype) == Kind::integer && op == hcommAvg) return bytes == 8 ? 16 : 8;
  return bytes;
}

std::string_view name(hcommDataType_t dtype) {
  switch (dtype) {
    case hcommInt8:       return "int8";
    case hcommUint8:      return "uint8";
    case hcommInt16:      return "int16";
    case hcommUint16:     return "uint16";
    case hcommInt32:      return "int32";
    case hcommUint32:     return "uint32";
    case hcommInt64:      return "int64";
    case hcommUint64:     return "uint64";
    case hcommFloat16:    return "float16";
    case hcommBfloat16:   return "bfloat16";
    case hcommFloat32:    return "float32";
    case hcommFloat64:    return "float64";
    case hcommFloat8e4m3: return "float8e4m3";
    case hcommFloat8e5m2: return "float8e5m2";
    case hcommBool:       return "bool";
    case hcommComplex64:  return "complex64";
    case hcommComplex128: return "complex128";
  }
  return "?";
}

std::string_view name(hcommRedOp_t op) {
  switch (op) {
    case hcommSum:  return "sum";
    case hcommProd: return "prod";
    case hcommMax:  return "max";
    case hcommMin:  return "min";
    case hcommAvg:  return "avg";
    case hcommLand: return "land";
    case hcommLor:  return "lor";
    case hcommLxor: return "lxor";
    case hcommBand: return "band";
    case hcommBor:  return "bor";
    case hcommBxor: return "bxor";
  }
  return "?";
}

}  // namespace hcomm
