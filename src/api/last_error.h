// The text of the last failure, in a fixed buffer of each thread, so that setting it cannot fail.
#pragma once

#include <string_view>

#include "hcomm/types.h"

namespace hcomm::last_error {

// Keeps the text (cut to fit) if the code is a failure; returns the code.
hcommResult_t set(hcommResult_t code, std::string_view text) noexcept;

// "" if no call of this thread has failed yet. Zero terminated; valid until the thread's next call of hcomm.
const char* text() noexcept;

// For a text that is somebody else's, such as a communicator's: copies it into a second buffer of this thread.
const char* lend(std::string_view text) noexcept;

}  // namespace hcomm::last_error
