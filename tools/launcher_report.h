// `hcomm env --launcher`: which launcher started this process, how that is known, and where the ranks meet.
#pragma once

namespace hcomm {

// Returns the exit code: 0 if a launcher was found and can be used.
int report_launcher(bool json);

}  // namespace hcomm
