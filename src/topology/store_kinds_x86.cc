#include <emmintrin.h>

#include "topology/store_kinds.h"

namespace hcomm {

const bool kStoreKindsDiffer = true;

void store_regular(void* target, const void* source, std::size_t bytes) {
  auto* const out = static_cast<__m128i*>(target);
  const auto* const in = static_cast<const __m128i*>(source);
  for (std::size_t i = 0; i < bytes / sizeof(__m128i); ++i) _mm_store_si128(out + i, _mm_load_si128(in + i));
}

void store_non_temporal(void* target, const void* source, std::size_t bytes) {
  auto* const out = static_cast<__m128i*>(target);
  const auto* const in = static_cast<const __m128i*>(source);
  for (std::size_t i = 0; i < bytes / sizeof(__m128i); ++i) _mm_stream_si128(out + i, _mm_load_si128(in + i));
  _mm_sfence();
}

void store_rep_movsb(void* target, const void* source, std::size_t bytes) {
  asm volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory");
  _mm_sfence();
}

}  // namespace hcomm
