#include "verify/verify.h"

#include "verify/form.h"
#include "verify/machine.h"

namespace hcomm {
namespace {

constexpr std::uint64_t kNone = 0;
constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr std::uint64_t kOdd = 0xaaaaaaaaaaaaaaaau;    // ranks 1 3 5 7 ...
constexpr std::uint64_t kEven = 0x5555555555555555u;   // ranks 0 2 4 6 ...
constexpr std::uint64_t kPairs = 0xccccccccccccccccu;  // ranks 2 3 6 7 ...

bool names_exposed(const Schedule& schedule) {
  return std::ranges::any_of(schedule.programs, [](const Program& program) {
    return std::ranges::any_of(program.slices, [](const Slice& slice) { return slice.buffer == Buffer::exposed; });
  });
}

// All alike, and two mixtures; without those that cannot matter (who sees only its own buffers cannot tell a mixture).
std::vector<Placement> placements(const Schedule& first, const Schedule& second) {
  const bool exposes = names_exposed(first) || names_exposed(second);
  const bool has_buffers = first.problem.collective != Collective::barrier || second.problem.collective != Collective::barrier;
  std::vector<Placement> list = {{kNone, kNone}};
  if (has_buffers) list.push_back({kAll, kNone});
  if (exposes) list.insert(list.end(), {{kNone, kAll}, {kAll, kAll}});
  if (exposes && first.problem.ranks > 1) list.insert(list.end(), {{kOdd, kEven}, {kPairs, kOdd}});
  return list;
}

std::string mask_story(std::uint64_t mask, int ranks) {
  if (mask == kNone) return "no rank";
  if (mask == kAll) return "every rank";
  std::string text = "rank";
  for (int rank = 0; rank < std::min(ranks, 8); ++rank) {
    if ((mask >> rank & 1) != 0) text += " " + std::to_string(rank);
  }
  return text == "rank" ? "no rank" : text + (ranks > 8 ? " ..." : "");
}

// Under which calls the story happened.
std::string calls_story(std::span<const Call> calls) {
  const int ranks = calls.front().schedule->problem.ranks;
  std::string text = "; the calls:";
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Call& call = calls[i];
    if (i == 8) return text + " ...";
    text.append(i == 0 ? " " : ", ").append(call.schedule->algorithm).append(" ").append(name(call.schedule->problem.collective));
    text += " of " + std::to_string(call.chunks) + (call.chunks == 1 ? " chunk" : " chunks");
    if (i != 0) continue;
    text += " (in place on " + mask_story(call.placement.in_place, ranks) + ", input in a window on " +
            mask_story(call.placement.windowed, ranks) + ")";
  }
  return text;
}

Judgement judge(std::span<const Call> calls) {
  const Trial trial(calls);
  Judgement judgement = AbstractMachine(trial).run();
  if (!judgement.proved()) judgement.story += calls_story(calls);
  return judgement;
}

using Sequence = std::vector<Call>;

void repeat(Sequence& sequence, const Schedule& schedule, int chunks, const Placement& placement, int times) {
  sequence.insert(sequence.end(), static_cast<std::size_t>(times), Call{&schedule, chunks, placement});
}

bool has_chunks(const Schedule& schedule) { return schedule.problem.collective != Collective::barrier; }

std::vector<Sequence> sequences(const Schedule& schedule) {
  const int slots = schedule.problem.slots;
  const std::vector<Placement> all = placements(schedule, schedule);
  std::vector<Sequence> list;
  Sequence changing;  // a placement of its own for each call
  for (const Placement& placement : all) {
    Sequence& growing = list.emplace_back();
    repeat(growing, schedule, 1, placement, slots + 1);
    repeat(changing, schedule, 1, placement, 1);
    if (!has_chunks(schedule)) continue;
    for (int chunks = 2; chunks <= slots + 1; ++chunks) repeat(growing, schedule, chunks, placement, 1);
    repeat(growing, schedule, 1, placement, 1);
  }
  if (all.size() > 1) list.push_back(changing);
  if (has_chunks(schedule)) repeat(list.emplace_back(), schedule, slots + 1, all.back(), 1);  // from the very first epoch
  return list;
}

std::vector<Sequence> sequences(const Schedule& first, const Schedule& second) {
  const int turns = first.problem.slots + 1;
  std::vector<Sequence> list;
  for (const Placement& placement : placements(first, second)) {
    for (int chunks : {1, 2}) {
      const int first_chunks = has_chunks(first) ? chunks : 1;
      const int second_chunks = has_chunks(second) ? chunks : 1;
      Sequence& blocks = list.emplace_back();
      repeat(blocks, first, first_chunks, placement, turns);
      repeat(blocks, second, second_chunks, placement, turns);
      repeat(blocks, first, first_chunks, placement, turns);
      Sequence& alternating = list.emplace_back();
      for (int turn = 0; turn < turns; ++turn) {
        repeat(alternating, first, first_chunks, placement, 1);
        repeat(alternating, second, second_chunks, placement, 1);
      }
    }
  }
  return list;
}

Judgement judge_all(const std::vector<Sequence>& list) {
  for (const Sequence& sequence : list) {
    if (Judgement judgement = judge(sequence); !judgement.proved()) return judgement;
  }
  return {};
}

}  // namespace

Judgement verify_calls(std::span<const Call> calls) {
  if (calls.empty()) return {};
  if (Judgement judgement = check_calls(calls); !judgement.proved()) return judgement;
  return judge(calls);
}

Judgement verify(const Schedule& schedule) {
  if (Judgement judgement = check_form(schedule); !judgement.proved()) return judgement;
  return judge_all(sequences(schedule));
}

Judgement verify_pair(const Schedule& first, const Schedule& second) {
  const Call calls[] = {{&first, 1, {}}, {&second, 1, {}}};
  if (Judgement judgement = check_calls(calls); !judgement.proved()) return judgement;
  if (Judgement judgement = judge_all(sequences(first, second)); !judgement.proved()) return judgement;
  return judge_all(sequences(second, first));
}

}  // namespace hcomm
