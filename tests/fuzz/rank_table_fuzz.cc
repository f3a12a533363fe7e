// Rooms: base, net, bootstrap
//
// HCCL's rank tables: what is accepted has a server for each rank and no more ranks than a job may have.
#include "bootstrap/rank_table.h"

#include "base/assert.h"
#include "bootstrap/message.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const hcomm::Result<hcomm::RankTable> table = hcomm::parse_rank_table(hcomm::text_of(data, size));
  if (!table.ok()) {
    HCOMM_ASSERT(table.status().code() == hcommInvalidArgument);
    HCOMM_ASSERT(table.status().trail().starts_with("rank table: "));
    return 0;
  }
  const hcomm::RankTable& read = table.value();
  HCOMM_ASSERT(read.ranks() >= 1 && read.ranks() <= hcomm::kMaxMeetingRanks);
  HCOMM_ASSERT(!read.first_address.empty());
  for (const std::string& server : read.servers) HCOMM_ASSERT(!server.empty());
  HCOMM_ASSERT(read.ranks() > 1 || read.one_host());
  return 0;
}
