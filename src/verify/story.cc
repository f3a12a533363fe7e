#include "verify/story.h"

#include "schedule/text.h"

namespace hcomm {
namespace {

constexpr std::size_t kLongestOp = 160;

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string when_story(const Trial& trial, const Access& who) {
  return "call " + number(who.call) + ", chunk " + number(who.chunk) + ", epoch " + number(trial.epoch(who.call, who.chunk));
}

// What an access does to a place, after the name of who does it.
std::string act_story(const Access& who, bool writes, bool is_later) {
  if (who.op == kCallerFills) return is_later ? " fills it" : " may still be filling it";
  if (who.op == kCallerReturns) return is_later ? " has its buffers back and may overwrite it" : " has its buffers back";
  if (is_later) return writes ? " writes it" : " reads it";
  return writes ? " may still write it" : " may still read it";
}

}  // namespace

std::string op_story(const Trial& trial, const Access& who) {
  if (is_caller(who.op)) return "the caller of rank " + number(who.rank) + " (call " + number(who.call) + ")";
  const Program& program = trial.schedule(who.call).programs[who.rank];
  std::string text = to_text(program, program.ops[who.op]);
  if (text.size() > kLongestOp) text = text.substr(0, kLongestOp) + "...";
  return "rank " + number(who.rank) + " op " + number(who.op) + " `" + text + "` (" + when_story(trial, who) + ")";
}

std::string spot_story(const Spot& spot) {
  const std::string of_owner = " of rank " + number(spot.owner);
  const std::string when = " (call " + number(spot.call) + ", chunk " + number(spot.chunk) + ")";
  const std::string of_slot = " (slot " + number(spot.slot) + ")";
  switch (spot.region) {
    case Region::input:   return "input[" + number(spot.index) + "]" + of_owner + when;
    case Region::output:  return "output[" + number(spot.index) + "]" + of_owner + when;
    case Region::scratch: return "scratch unit " + number(spot.index) + of_owner;
    case Region::slot:    return "slot(" + number(spot.owner) + ") unit " + number(spot.index) + of_slot;
    case Region::record:  return "the place of exposed(" + number(spot.owner) + ")" + of_slot;
  }
  unreachable();
}

std::string race_story(const Trial& trial, const Spot& spot, const Access& earlier, bool earlier_writes,
                       const Access& later, bool later_writes) {
  std::string text = "race on " + spot_story(spot) + ": " + op_story(trial, later) + act_story(later, later_writes, true);
  text += " while " + op_story(trial, earlier) + act_story(earlier, earlier_writes, false);
  if (earlier.rank == later.rank) return text + ": op " + number(earlier.op) + " was started and nobody waited for its end";
  return text + ": nothing that rank " + number(later.rank) + " waited for says that rank " + number(earlier.rank) + " is done";
}

}  // namespace hcomm
