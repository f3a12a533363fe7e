// The reader of the text form. One line, one thing: a header, a rank, a section's name or an op. Each function reads one piece
// of a line and answers false once something is wrong; the first fault is kept.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "schedule/text.h"

namespace hcomm {
namespace {

constexpr std::uint32_t kMaxNumber = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kMaxInt = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kLongestQuote = 24;

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

// The lines of a text without comments and blank ends, and a place in the current one.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  // Goes to the next line that is not empty.
  bool next() {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      line_ = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      line_ = line_.substr(0, line_.find('#'));
      ++number_;
      at_ = 0;
      skip_blanks();
      if (at_ < line_.size()) return true;
    }
    line_ = {};
    at_ = 0;
    ++number_;
    return false;
  }

  bool at_end() const { return at_ == line_.size(); }
  std::string_view here() const { return line_.substr(at_); }
  void advance(std::size_t by) { at_ += by; }
  void skip_blanks() {
    while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
  }

  // Takes `what` if it stands here, and the blanks after it.
  bool take(std::string_view what) {
    if (!here().starts_with(what)) return false;
    advance(what.size());
    skip_blanks();
    return true;
  }
  bool take_word(std::string_view what) {
    if (word() != what) return false;
    return take(what);
  }
  std::string_view word() const {
    const std::string_view text = here();
    return text.substr(0, static_cast<std::size_t>(std::ranges::find_if_not(text, is_word) - text.begin()));
  }

  std::string place() const { return "line " + std::to_string(number_) + ", column " + std::to_string(at_ + 1); }
  std::string quote() const {
    if (at_end()) return "the end of the line";
    std::string text(here().substr(0, std::min(here().find(' '), kLongestQuote)));
    std::ranges::replace_if(text, [](char c) { return c < ' ' || c > '~'; }, '?');
    return "`" + text + "`";
  }

 private:
  std::string_view rest_;
  std::string_view line_;
  std::size_t at_ = 0;
  int number_ = 0;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : lines_(text) {}

  Result<Schedule> parse() {
    if (!parse_all()) return Status::failure(hcommInvalidArgument, fault_);
    return std::move(schedule_);
  }

 private:
  bool parse_all() {
    if (!lines_.next()) return expected("a line that starts with schedule");
    if (!header()) return false;
    while (lines_.next()) {
      if (!line()) return false;
    }
    const auto ranks = static_cast<std::size_t>(schedule_.problem.ranks);
    return schedule_.programs.size() == ranks || expected("rank " + std::to_string(schedule_.programs.size()));
  }

  bool expected(std::string_view what) {
    if (fault_.empty()) fault_ = lines_.place() + ": found " + lines_.quote() + ", expected " + std::string(what);
    return false;
  }
  bool need(std::string_view what) { return lines_.take(what) || expected(what); }
  bool end() { return lines_.at_end() || expected("the end of the line"); }

  template <class Int>
  bool number(Int& value, std::uint32_t least, std::uint32_t most) {
    std::uint64_t read = 0;
    std::size_t digits = 0;
    for (const char c : lines_.here()) {
      if (!is_digit(c) || read > most) break;
      read = read * 10 + static_cast<std::uint64_t>(c - '0');
      ++digits;
    }
    if (digits == 0 || read < least || read > most) {
      return expected("a number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    lines_.advance(digits);
    lines_.skip_blanks();
    value = static_cast<Int>(read);
    return true;
  }

  // One of some enumerators, by name.
  template <class Enum, std::size_t N>
  bool choice(Enum& value, const std::array<Enum, N>& all) {
    std::string names;
    for (const Enum one : all) {
      if (lines_.take_word(name(one))) {
        value = one;
        return true;
      }
      names.append(names.empty() ? "" : ", ").append(name(one));
    }
    return expected("one of " + names);
  }

  bool setting(std::string_view key, int& value, std::uint32_t least, std::uint32_t most) {
    return need(key) && need("=") && number(value, least, most);
  }

  bool header() {
    Problem& problem = schedule_.problem;
    Shape& shape = schedule_.shape;
    if (!need("schedule") || !choice(problem.collective, kCollectives) || !need("algorithm") || !need("=")) return false;
    schedule_.algorithm = lines_.word();
    if (schedule_.algorithm.empty()) return expected("the algorithm's name");
    lines_.take(schedule_.algorithm);
    return setting("ranks", problem.ranks, 1, kMaxRanks) && setting("root", problem.root, 0, kMaxRanks - 1) &&
           setting("slots", problem.slots, 1, kMaxSlots) && setting("blocks", shape.blocks, 1, kMaxInt) &&
           setting("scratch", shape.scratch_units, 0, kMaxInt) && setting("window", shape.slot_units, 0, kMaxInt) && end();
  }

  bool line() {
    if (lines_.take_word("rank")) return rank();
    if (schedule_.programs.empty()) return expected("rank 0");
    if (lines_.take_word("prologue")) return section(0, program().prologue);
    if (lines_.take_word("body")) return section(1, program().body);
    if (lines_.take_word("epilogue")) return section(2, program().epilogue);
    if (section_ == nullptr) return expected("prologue, body or epilogue");
    return op();
  }

  bool rank() {
    const auto next = static_cast<std::uint32_t>(schedule_.programs.size());
    if (next == static_cast<std::uint32_t>(schedule_.problem.ranks)) return expected("no more ranks");
    int given = 0;
    if (!number(given, next, next) || !end()) return false;
    schedule_.programs.emplace_back().rank = given;
    section_ = nullptr;
    sections_named_ = 0;
    return true;
  }

  bool section(int index, Section& section) {
    if (index < sections_named_) return expected("the sections prologue, body, epilogue in this order, each at most once");
    sections_named_ = index + 1;
    section_ = &section;
    section_->first = static_cast<std::uint32_t>(program().ops.size());
    return end();
  }

  bool op() {
    Program& self = program();
    const auto next = static_cast<std::uint32_t>(self.ops.size());
    std::uint32_t given = 0;
    if (!is_digit(lines_.here().front())) return expected("op " + std::to_string(next) + ", a section or the next rank");
    if (!number(given, next, next)) return false;
    Op op;
    std::vector<Slice> sources;
    std::vector<Slice> targets;
    constexpr std::array kKinds = {OpKind::send, OpKind::recv, OpKind::combine, OpKind::signal, OpKind::await};
    if (!choice(op.kind, kKinds) || !operands(op, sources, targets) || !lane(op)) return false;
    op.first_source = static_cast<std::uint32_t>(self.slices.size());
    op.source_count = static_cast<std::uint32_t>(sources.size());
    self.slices.insert(self.slices.end(), sources.begin(), sources.end());
    op.first_target = static_cast<std::uint32_t>(self.slices.size());
    op.target_count = static_cast<std::uint32_t>(targets.size());
    self.slices.insert(self.slices.end(), targets.begin(), targets.end());
    if (!waits(op)) return false;
    self.ops.push_back(op);
    ++section_->count;
    return end();
  }

  bool operands(Op& op, std::vector<Slice>& sources, std::vector<Slice>& targets) {
    constexpr std::array kPhases = {Phase::filled, Phase::reduced, Phase::finished};
    switch (op.kind) {
      case OpKind::send:    return slice(sources.emplace_back()) && need("to") && number(op.peer, 0, kMaxInt);
      case OpKind::recv:    return slice(targets.emplace_back()) && need("from") && number(op.peer, 0, kMaxInt);
      case OpKind::combine: return slices(targets) && need("<-") && slices(sources);
      case OpKind::signal:  return choice(op.phase, kPhases);
      case OpKind::await:
        if (!choice(op.phase, kPhases) || !need("of") || !number(op.peer, 0, kMaxInt)) return false;
        return !lines_.take_word("back") || number(op.back, 0, std::numeric_limits<std::uint8_t>::max());
    }
    unreachable();
  }

  bool lane(Op& op) {
    constexpr std::array kAllLanes = {Lane::collective, Lane::point_to_point, Lane::control};
    static_assert(kAllLanes.size() == kLanes);
    return !lines_.take_word("lane") || choice(op.lane, kAllLanes);
  }

  bool waits(Op& op) {
    Program& self = program();
    op.first_wait = static_cast<std::uint32_t>(self.waits.size());
    if (!lines_.take_word("after")) return true;
    do {
      if (!number(self.waits.emplace_back(), 0, kMaxNumber)) return false;
      ++op.wait_count;
    } while (!lines_.at_end());
    return true;
  }

  bool slices(std::vector<Slice>& list) {
    do {
      if (!slice(list.emplace_back())) return false;
    } while (lines_.take(","));
    return true;
  }

  bool slice(Slice& slice) {
    if (lines_.take_word("prepare")) slice.scaling = Scaling::prepare;
    if (slice.scaling == Scaling::none && lines_.take_word("finish")) slice.scaling = Scaling::finish;
    constexpr std::array kBuffers = {Buffer::input, Buffer::output, Buffer::scratch, Buffer::slot, Buffer::exposed};
    if (!choice(slice.buffer, kBuffers)) return false;
    slice.owner = program().rank;
    if (has_owner(slice.buffer) && !lines_.here().starts_with('(')) return expected("the owner in parentheses");
    if (lines_.take("(") && !(number(slice.owner, 0, kMaxInt) && need(")"))) return false;
    if (has_place(slice.buffer) && !lines_.here().starts_with('@')) return expected("@ and a unit");
    if (lines_.take("@") && !number(slice.place, 0, kMaxNumber)) return false;
    if (!need("[") || !number(slice.first, 0, kMaxNumber)) return false;
    slice.count = 1;
    if (lines_.take("..")) {
      std::uint64_t last = 0;
      if (!number(last, slice.first, kMaxNumber) || !need(")")) return false;
      slice.count = static_cast<std::uint32_t>(last - slice.first);
    } else if (!lines_.take("]")) {
      return expected("] or ..");
    }
    if (lines_.take(".partial")) {
      slice.format = Format::partial;
    } else if (lines_.take(".sum")) {
      slice.format = Format::sum;
    }
    return true;
  }

  Program& program() { return schedule_.programs.back(); }

  Lines lines_;
  Schedule schedule_;
  Section* section_ = nullptr;  // of the last program; the one being read
  int sections_named_ = 0;      // of the last program
  std::string fault_;
};

}  // namespace

Result<Schedule> parse_schedule(std::string_view text) { return Parser(text).parse(); }

}  // namespace hcomm
