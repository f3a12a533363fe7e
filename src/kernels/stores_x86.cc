#include <emmintrin.h>

#include <cstring>

#include "base/assert.h"
#include "base/bytes.h"
#include "kernels/stores.h"

namespace hcomm {
namespace {

// Whole cache lines by streaming stores, so that each leaves the core as one write; the odd ends by regular ones.
void stream(std::byte* target, const std::byte* source, std::size_t bytes) noexcept {
  const std::size_t past_line = reinterpret_cast<std::uintptr_t>(target) % kCacheLineBytes;
  const std::size_t head = past_line == 0 ? 0 : kCacheLineBytes - past_line;
  if (bytes < head + kCacheLineBytes) {
    std::memcpy(target, source, bytes);
    return;
  }
  std::memcpy(target, source, head);
  std::size_t at = head;
  for (; at + kCacheLineBytes <= bytes; at += kCacheLineBytes) {
    const auto* from = reinterpret_cast<const __m128i*>(source + at);
    auto* to = reinterpret_cast<__m128i*>(target + at);
    const __m128i first = _mm_loadu_si128(from);
    const __m128i second = _mm_loadu_si128(from + 1);
    const __m128i third = _mm_loadu_si128(from + 2);
    const __m128i fourth = _mm_loadu_si128(from + 3);
    _mm_stream_si128(to, first);
    _mm_stream_si128(to + 1, second);
    _mm_stream_si128(to + 2, third);
    _mm_stream_si128(to + 3, fourth);
  }
  std::memcpy(target + at, source + at, bytes - at);
}

void move_string(std::byte* target, const std::byte* source, std::size_t bytes) noexcept {
  asm volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes)::"memory");
}

}  // namespace

void put(std::byte* target, const std::byte* source, std::size_t bytes, Store store) noexcept {
  switch (store) {
    case Store::regular:      std::memcpy(target, source, bytes); return;
    case Store::non_temporal: stream(target, source, bytes); return;
    case Store::rep_movsb:    move_string(target, source, bytes); return;
  }
  unreachable();
}

void publish(Store store) noexcept {
  if (store != Store::regular) _mm_sfence();
}

}  // namespace hcomm
