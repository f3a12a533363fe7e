// Rooms: base, schedule
//
// Any text is refused with a reason or is a schedule; a schedule that was read is printed as a text that reads and prints the
// same.
#include "schedule/text.h"

#include "base/assert.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const hcomm::Result<hcomm::Schedule> parsed = hcomm::parse_schedule(hcomm::text_of(data, size));
  if (!parsed.ok()) {
    HCOMM_ASSERT(parsed.status().code() == hcommInvalidArgument);
    return 0;
  }
  const std::string printed = hcomm::to_text(parsed.value());
  const hcomm::Result<hcomm::Schedule> again = hcomm::parse_schedule(printed);
  HCOMM_ASSERT(again.ok());
  HCOMM_ASSERT(hcomm::to_text(again.value()) == printed);
  return 0;
}
