#include "oracle.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "kernels/combine.h"
#include "schedule/binding.h"

namespace hcomm::testing {
namespace {

thread_local std::uint64_t salt_of_thread = 0;

template <class T>
void put(std::byte* memory, std::size_t index, T value) {
  std::memcpy(memory + index * sizeof value, &value, sizeof value);
}

// Whole numbers up to 256 are exact in both half formats, so their bits follow from those of the float by cutting.
std::uint16_t bfloat16_bits(int number) {
  const float value = static_cast<float>(number);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}

std::uint16_t float16_bits(int number) {
  const float value = static_cast<float>(number);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  if (number == 0) return 0;
  const std::uint32_t sign = bits >> 31 << 15;
  const std::uint32_t exponent = (bits >> 23 & 0xff) - 127 + 15;
  return static_cast<std::uint16_t>(sign | exponent << 10 | (bits >> 13 & 0x3ff));
}

int combined(const CollectiveCall& call, int ranks, std::size_t i) {
  int result = contribution(0, i);
  for (int rank = 1; rank < ranks; ++rank) {
    const int next = contribution(rank, i);
    if (call.op == hcommSum) result += next;
    if (call.op == hcommMin) result = std::min(result, next);
    if (call.op == hcommMax) result = std::max(result, next);
  }
  return result;
}

int expected_number(const CollectiveCall& call, int rank, int ranks, std::size_t i) {
  switch (call.collective) {
    case Collective::allreduce:
    case Collective::reduce:
      return combined(call, ranks, i);
    case Collective::broadcast:
      return contribution(call.root, i);
    case Collective::reduce_scatter:
      return combined(call, ranks, static_cast<std::size_t>(rank) * call.count + i);
    case Collective::allgather:
      return contribution(static_cast<int>(i / call.count), i % call.count);
    case Collective::barrier:
      break;
  }
  throw std::logic_error("no output");
}

}  // namespace

void set_salt(std::uint64_t salt) { salt_of_thread = salt; }

int contribution(int rank, std::size_t i) {
  std::uint64_t mixed = salt_of_thread * 0xd6e8feb86659fd93u + (i + 1) * 0x9e3779b97f4a7c15u;
  mixed += static_cast<std::uint64_t>(rank + 1) * 0xc2b2ae3d27d4eb4fu;
  mixed ^= mixed >> 29;
  mixed *= 0xbf58476d1ce4e5b9u;
  return static_cast<int>(mixed >> 60) - 8;
}

void put_number(std::byte* memory, std::size_t index, hcommDataType_t dtype, int number) {
  if (dtype == hcommInt8) return put(memory, index, static_cast<std::int8_t>(number));
  if (dtype == hcommInt32) return put(memory, index, static_cast<std::int32_t>(number));
  if (dtype == hcommInt64) return put(memory, index, static_cast<std::int64_t>(number));
  if (dtype == hcommFloat16) return put(memory, index, float16_bits(number));
  if (dtype == hcommBfloat16) return put(memory, index, bfloat16_bits(number));
  if (dtype == hcommFloat32) return put(memory, index, static_cast<float>(number));
  if (dtype == hcommFloat64) return put(memory, index, static_cast<double>(number));
  throw std::logic_error("no numbers of this type");
}

std::size_t send_elements(const CollectiveCall& call, int ranks) {
  return call.collective == Collective::reduce_scatter ? call.count * static_cast<std::size_t>(ranks) : call.count;
}

std::size_t recv_elements(const CollectiveCall& call, int ranks) {
  return call.collective == Collective::allgather ? call.count * static_cast<std::size_t>(ranks) : call.count;
}

std::vector<std::byte> make_input(const CollectiveCall& call, int rank, int ranks) {
  const std::size_t elements = send_elements(call, ranks);
  std::vector<std::byte> input(elements * element_bytes(call.dtype));
  for (std::size_t i = 0; i < elements; ++i) put_number(input.data(), i, call.dtype, contribution(rank, i));
  return input;
}

std::vector<std::byte> expected_output(const CollectiveCall& call, int rank, int ranks) {
  const std::size_t elements = has_output(call.collective, rank == call.root) ? recv_elements(call, ranks) : 0;
  std::vector<std::byte> output(elements * element_bytes(call.dtype));
  for (std::size_t i = 0; i < elements; ++i) {
    put_number(output.data(), i, call.dtype, expected_number(call, rank, ranks, i));
  }
  return output;
}

}  // namespace hcomm::testing
