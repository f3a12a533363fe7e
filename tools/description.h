// What the command line has, read from its definitions: the one source of the manual pages and of completion in shells.
#pragma once

#include <CLI/CLI.hpp>

#include <map>
#include <span>
#include <string>
#include <vector>

namespace hcomm {

// The legal words of options and positionals that have a few, which completion offers. Whoever adds an option may say them.
class Choices {
 public:
  void offer(const CLI::Option* option, std::vector<std::string> words) { words_[option] = std::move(words); }
  std::vector<std::string> of(const CLI::Option* option) const;

 private:
  std::map<const CLI::Option*, std::vector<std::string>> words_;
};

// Legal words, by the tables of the library; `more` is added at the end.
std::vector<std::string> collective_words(const std::string& more = "");
std::vector<std::string> type_words(const std::string& more = "");
std::vector<std::string> op_words(const std::string& more = "");
std::vector<std::string> algorithm_words(const std::string& more = "");

// An option, a flag or a positional.
struct OptionDescription {
  std::vector<std::string> names;    // "-b", "--minbytes"; of a positional its bare name
  std::string value;                 // what stands for its value: "SIZE"; empty for a flag
  std::string help;                  // one line, with what is legal
  std::string otherwise;             // the default; empty: none, or the help says it
  std::vector<std::string> choices;  // may be empty
  bool required = false;
  bool repeats = false;

  bool is_flag() const { return value.empty(); }
  bool takes_files() const { return choices.empty() && (value == "FILE" || value == "DIR"); }
};

struct CommandDescription {
  std::string name;  // "run"; "hcomm" for the program itself
  std::string help;  // one line
  std::string footer;
  std::vector<OptionDescription> options;
  std::vector<OptionDescription> positionals;
  bool runs_program = false;  // the words behind "--" are another program's
};

struct Description {
  CommandDescription program;
  std::vector<CommandDescription> commands;  // in the order of --help, without hidden ones
};

Description describe(const CLI::App& app, const Choices& choices);

}  // namespace hcomm
