// How elements become vector lanes and lanes become elements. Compiled once per instruction set.
#if defined(HCOMM_KERNELS_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HCOMM_KERNELS_LANES_INL_H
#undef HCOMM_KERNELS_LANES_INL_H
#else
#define HCOMM_KERNELS_LANES_INL_H
#endif

#include <cstring>

#include "hwy/highway.h"
#include "kernels/half.h"

#if HWY_TARGET != HWY_SCALAR

HWY_BEFORE_NAMESPACE();
namespace hcomm::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
constexpr bool is_single(D) {
  return hn::MaxLanes(D()) == 1;
}

// A tag with one lane touches exactly one element; all tags take any alignment.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_raw(D d, const std::byte* from) {
  if constexpr (is_single(D())) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return hn::Set(d, value);
  } else {
    return hn::LoadU(d, reinterpret_cast<const T*>(from));
  }
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_raw(D d, hn::Vec<D> value, std::byte* to) {
  if constexpr (is_single(D())) {
    const T lane = hn::GetLane(value);
    std::memcpy(to, &lane, sizeof(T));
  } else {
    hn::StoreU(value, d, reinterpret_cast<T*>(to));
  }
}

template <class D>
HWY_INLINE hn::Vec<D> canonical(D d, hn::Vec<D> value) {
  if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
    const hn::RebindToUnsigned<D> du;
    using Bits = hn::TFromD<decltype(du)>;
    const Bits nan = sizeof(Bits) == 4 ? static_cast<Bits>(kFloatNan) : static_cast<Bits>(kDoubleNan);
    return hn::IfThenElse(hn::IsNaN(value), hn::BitCast(d, hn::Set(du, nan)), value);
  } else {
    return value;
  }
}

// The kinds of element. Partial: what lanes hold. narrow() is for results and makes NaNs canonical; narrow_copy() keeps
// payloads. The integer steps are those of half.h, and single halves go through half.h itself: Highway's variable shift
// of one lane (1.0.3, SSE4 and up) counts by 64 bits, of which a tag of one lane owns 32.
template <class T>
struct SameLanes {
  using Partial = T;
  static constexpr std::size_t kElementBytes = sizeof(T);

  template <class D>
  static HWY_INLINE hn::Vec<D> widen(D d, const std::byte* from) {
    return load_raw(d, from);
  }
  template <class D>
  static HWY_INLINE void narrow(D d, hn::Vec<D> value, std::byte* to) {
    store_raw(d, canonical(d, value), to);
  }
};

template <class D>  // D: float
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> load_half(D, const std::byte* from) {
  return hn::PromoteTo(hn::RebindToUnsigned<D>(), load_raw(hn::Rebind<std::uint16_t, D>(), from));
}

template <std::uint32_t (*kWiden)(std::uint16_t), class D>
HWY_INLINE hn::Vec<D> widen_single(D d, const std::byte* from) {
  std::uint16_t half;
  std::memcpy(&half, from, sizeof half);
  return hn::BitCast(d, hn::Set(hn::RebindToUnsigned<D>(), kWiden(half)));
}

template <std::uint16_t (*kNarrow)(std::uint32_t), class D>
HWY_INLINE void narrow_single(D, hn::Vec<D> value, std::byte* to) {
  const std::uint16_t half = kNarrow(hn::GetLane(hn::BitCast(hn::RebindToUnsigned<D>(), value)));
  std::memcpy(to, &half, sizeof half);
}

template <class D>  // D: float; lanes are at most 0xFFFF
HWY_INLINE void store_half(D, hn::Vec<hn::RebindToUnsigned<D>> lanes, std::byte* to) {
  const hn::Rebind<std::uint16_t, D> halves;
  store_raw(halves, hn::TruncateTo(halves, lanes), to);
}

struct Bfloat16Lanes {
  using Partial = float;
  static constexpr std::size_t kElementBytes = 2;

  template <class D>
  static HWY_INLINE hn::Vec<D> widen(D d, const std::byte* from) {
    if constexpr (is_single(D())) return widen_single<bfloat16_widen>(d, from);
    return hn::BitCast(d, hn::ShiftLeft<16>(load_half(d, from)));
  }
  template <class D>
  static HWY_INLINE void narrow(D d, hn::Vec<D> value, std::byte* to) {
    if constexpr (is_single(D())) return narrow_single<bfloat16_narrow>(d, canonical(d, value), to);
    store_half(d, rounded(d, canonical(d, value)), to);  // a canonical NaN rounds to a canonical one
  }
  template <class D>
  static HWY_INLINE void narrow_copy(D d, hn::Vec<D> value, std::byte* to) {
    if constexpr (is_single(D())) return narrow_single<bfloat16_narrow>(d, value, to);
    const hn::RebindToUnsigned<D> du;
    const hn::RebindToSigned<D> di;
    const auto bits = hn::BitCast(du, value);
    const auto magnitude = hn::BitCast(di, hn::And(bits, hn::Set(du, ~kFloatSign)));
    const auto is_nan = hn::Gt(magnitude, hn::Set(di, static_cast<std::int32_t>(kFloatInfinity)));
    const auto quiet = hn::Or(hn::ShiftRight<16>(bits), hn::Set(du, kBfloat16Quiet));
    store_half(d, hn::IfThenElse(hn::RebindMask(du, is_nan), quiet, rounded(d, value)), to);
  }

 private:
  template <class D>
  static HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> rounded(D, hn::Vec<D> value) {
    const hn::RebindToUnsigned<D> du;
    const auto bits = hn::BitCast(du, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    return hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(du, 0x7FFF)), odd));
  }
};

// Both ways have a short path for vectors of normal numbers alone.
struct Float16Lanes {
  using Partial = float;
  static constexpr std::size_t kElementBytes = 2;

  template <class D>
  static HWY_INLINE hn::Vec<D> widen(D d, const std::byte* from) {
    if constexpr (is_single(D())) return widen_single<float16_widen>(d, from);
    const hn::RebindToSigned<D> di;
    const auto half = hn::PromoteTo(di, load_raw(hn::Rebind<std::int16_t, D>(), from));  // the sign fills the upper half
    const auto in_place = hn::And(hn::ShiftLeft<kFloat16Shift>(half), signed_set(di, kFloatSign | 0x0FFFE000));
    auto bits = hn::Add(in_place, signed_set(di, kFloat16Bias));
    // An exponent field of 31 or 0 makes one of 0 or 1 when 1 is added.
    const auto rare = hn::Eq(hn::And(hn::Add(half, hn::Set(di, 0x0400)), hn::Set(di, 0x7800)), hn::Zero(di));
    if (HWY_UNLIKELY(!hn::AllFalse(di, rare))) bits = hn::IfThenElse(rare, widened_rare(d, half), bits);
    return hn::BitCast(d, bits);
  }

  template <class D>
  static HWY_INLINE void narrow(D d, hn::Vec<D> value, std::byte* to) {
    if constexpr (is_single(D())) return narrow_single<float16_narrow>(d, canonical(d, value), to);
    const hn::RebindToUnsigned<D> du;
    const hn::RebindToSigned<D> di;
    const auto bits = hn::BitCast(du, value);
    const auto magnitude = hn::And(bits, hn::Set(du, ~kFloatSign));
    auto half = hn::Or(rounded_normal(du, magnitude), hn::ShiftRight<16>(hn::Xor(bits, magnitude)));
    // Unsigned order by a signed compare: both sides are moved by 2^31.
    const auto above = hn::Add(magnitude, hn::Set(du, kFloatSign - kFloat16SmallestNormal));
    const auto range = signed_set(di, kFloatSign + (kFloat16Overflow - kFloat16SmallestNormal));
    const auto normal = hn::Gt(range, hn::BitCast(di, above));
    if (HWY_UNLIKELY(!hn::AllTrue(di, normal))) {
      half = rounded(d, canonical(d, value), hn::Set(du, kFloat16Infinity | kFloat16Quiet));
    }
    store_half(d, half, to);
  }

  template <class D>
  static HWY_INLINE void narrow_copy(D d, hn::Vec<D> value, std::byte* to) {
    if constexpr (is_single(D())) return narrow_single<float16_narrow>(d, value, to);
    const hn::RebindToUnsigned<D> du;
    const auto payload = hn::And(hn::ShiftRight<kFloat16Shift>(hn::BitCast(du, value)), hn::Set(du, 0x03FF));
    store_half(d, rounded(d, value, hn::Or(payload, hn::Set(du, kFloat16Infinity | kFloat16Quiet))), to);
  }

 private:
  template <class DI>
  static HWY_INLINE hn::Vec<DI> signed_set(DI di, std::uint32_t bits) {
    return hn::Set(di, static_cast<std::int32_t>(bits));
  }

  // Infinities, NaNs, zeros and subnormals. A subnormal is an integer times 2^-24: it is converted exactly, and its exponent
  // lowered by 24; zero stays zero.
  template <class D, class I = hn::Vec<hn::RebindToSigned<D>>>
  static HWY_INLINE I widened_rare(D d, I half) {
    const hn::RebindToSigned<D> di;
    const auto magnitude = hn::And(half, hn::Set(di, 0x7FFF));
    const auto sign = hn::And(half, signed_set(di, kFloatSign));
    const auto special = hn::Or(hn::ShiftLeft<kFloat16Shift>(magnitude), signed_set(di, kFloatInfinity));
    const auto counted = hn::BitCast(di, hn::ConvertTo(d, magnitude));
    const auto subnormal = hn::Max(hn::Sub(counted, hn::Set(di, 24 << 23)), hn::Zero(di));
    const auto is_subnormal = hn::Gt(hn::Set(di, 0x0400), magnitude);
    return hn::Or(hn::IfThenElse(is_subnormal, subnormal, special), sign);
  }

  // For magnitudes from 2^-14 to 2^16: a carry may reach infinity, rightly.
  template <class DU>
  static HWY_INLINE hn::Vec<DU> rounded_normal(DU du, hn::Vec<DU> magnitude) {
    const auto odd = hn::And(hn::ShiftRight<kFloat16Shift>(magnitude), hn::Set(du, 1));
    return hn::ShiftRight<kFloat16Shift>(hn::Add(hn::Add(magnitude, hn::Set(du, 0x0FFF - kFloat16Bias)), odd));
  }

  // Any number. nan: what a NaN becomes, but for its sign.
  template <class D, class U = hn::Vec<hn::RebindToUnsigned<D>>>
  static HWY_INLINE U rounded(D, hn::Vec<D> value, U nan) {
    const hn::RebindToUnsigned<D> du;
    const hn::RebindToSigned<D> di;
    const auto bits = hn::BitCast(du, value);
    const auto magnitude = hn::And(bits, hn::Set(du, ~kFloatSign));
    const auto sign = hn::ShiftRight<16>(hn::Xor(bits, magnitude));
    const auto ordered = hn::BitCast(di, magnitude);  // the sign is gone, so the order is the same
    const auto is_nan = hn::Gt(ordered, signed_set(di, kFloatInfinity));
    const auto is_small = hn::Gt(signed_set(di, kFloat16SmallestNormal), ordered);
    auto half = rounded_normal(du, hn::Min(magnitude, hn::Set(du, kFloat16Overflow)));
    half = hn::IfThenElse(hn::RebindMask(du, is_small), rounded_subnormal(du, magnitude), half);
    return hn::Or(hn::IfThenElse(hn::RebindMask(du, is_nan), nan, half), sign);
  }

  // Below 2^-14 the mantissa is shifted by what the exponent asks for; 31 and more bits leave nothing.
  template <class DU>
  static HWY_INLINE hn::Vec<DU> rounded_subnormal(DU du, hn::Vec<DU> magnitude) {
    const auto one = hn::Set(du, 1);
    const auto exponent = hn::Min(hn::ShiftRight<23>(magnitude), hn::Set(du, 112));
    const auto shift = hn::Min(hn::Sub(hn::Set(du, 126), exponent), hn::Set(du, 31));
    const auto mantissa = hn::Or(hn::And(magnitude, hn::Set(du, 0x007F'FFFF)), hn::Set(du, 0x0080'0000));
    const auto odd = hn::And(hn::Shr(mantissa, shift), one);
    const auto half_ulp = hn::Shl(one, hn::Sub(shift, one));
    return hn::Shr(hn::Add(hn::Add(mantissa, hn::Sub(half_ulp, one)), odd), shift);
  }
};

}  // namespace hcomm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET != HWY_SCALAR
#endif  // per-target include guard
