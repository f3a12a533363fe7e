// The text form of schedules: golden tests, bug reports and the command line use it. docs/schedule_format.md describes it.
//
//   Print:  any schedule in the builder's layout (each op has its own run of slices and waits, in op order; sections in order),
//           whose algorithm is a word of letters, digits, '_' and '-'.
//           Then parse(print(s)) == s and print(parse(text)) == text for a text that print made.
//   Parse:  hostile text is safe: work and memory are linear in its length. '#' starts a comment. A failure is
//           hcommInvalidArgument and names line, column, what was found and what is legal there.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "schedule/schedule.h"

namespace hcomm {

std::string to_text(const Schedule& schedule);
std::string to_text(const Program& program, const Op& op);  // one op, without its number
std::string to_text(const Slice& slice, int rank);          // as the program of `rank` names it

Result<Schedule> parse_schedule(std::string_view text);

}  // namespace hcomm
