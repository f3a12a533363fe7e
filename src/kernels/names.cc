#include <array>

#include "kernels/combine.h"

namespace hcomm {
namespace {

constexpr std::array kTypes = {hcommInt32, hcommInt64, hcommFloat16, hcommBfloat16, hcommFloat32, hcommFloat64};
constexpr std::array kOps = {hcommSum, hcommMin, hcommMax};

}  // namespace

std::span<const hcommDataType_t> combine_types() { return kTypes; }
std::span<const hcommRedOp_t> combine_ops() { return kOps; }

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

std::size_t partial_bytes(hcommDataType_t dtype) {
  for (const hcommDataType_t known : kTypes) {
    if (known == dtype) return dtype == hcommFloat16 || dtype == hcommBfloat16 ? sizeof(float) : element_bytes(dtype);
  }
  return 0;
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
  }
  return "?";
}

}  // namespace hcomm
