#include <cstring>

#include "topology/store_kinds.h"

namespace hcomm {

const bool kStoreKindsDiffer = false;

void store_regular(void* target, const void* source, std::size_t bytes) { std::memcpy(target, source, bytes); }
void store_non_temporal(void* target, const void* source, std::size_t bytes) { std::memcpy(target, source, bytes); }
void store_rep_movsb(void* target, const void* source, std::size_t bytes) { std::memcpy(target, source, bytes); }

}  // namespace hcomm
