#include "description.h"

#include "algos/algorithm.h"
#include "kernels/combine.h"
#include "schedule/problem.h"

namespace hcomm {
namespace {

std::vector<std::string> with(std::vector<std::string> words, const std::string& more) {
  if (!more.empty()) words.push_back(more);
  return words;
}

OptionDescription describe(const CLI::Option& option, const Choices& choices) {
  OptionDescription described{.help = option.get_description(),
                              .otherwise = option.get_default_str(),
                              .choices = choices.of(&option),
                              .required = option.get_required(),
                              .repeats = option.get_items_expected_max() > 1};
  for (const std::string& name : option.get_snames()) described.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) described.names.push_back("--" + name);
  if (described.names.empty()) described.names.push_back(option.get_name(true));
  if (option.get_items_expected_max() == 0) return described;
  const std::string type = option.get_type_name();  // "INT", or with a check "INT:INT in [1 - 64]"
  const std::size_t check = type.find(':');
  described.value = type.substr(0, check);
  if (check != std::string::npos) described.help += " (" + type.substr(check + 1) + ")";
  return described;
}

CommandDescription describe_command(const CLI::App& command, const Choices& choices) {
  CommandDescription described{.name = command.get_name(),
                               .help = command.get_description(),
                               .footer = command.get_footer(),
                               .runs_program = command.get_prefix_command()};
  for (const CLI::Option* option : command.get_options({})) {
    if (option->get_group().empty()) continue;
    (option->nonpositional() ? described.options : described.positionals).push_back(describe(*option, choices));
  }
  return described;
}

}  // namespace

std::vector<std::string> Choices::of(const CLI::Option* option) const {
  const auto found = words_.find(option);
  return found == words_.end() ? std::vector<std::string>() : found->second;
}

std::vector<std::string> collective_words(const std::string& more) {
  std::vector<std::string> words;
  for (const Collective collective : kCollectives) words.emplace_back(name(collective));
  return with(std::move(words), more);
}

std::vector<std::string> type_words(const std::string& more) {
  std::vector<std::string> words;
  for (const hcommDataType_t dtype : combine_types()) words.emplace_back(name(dtype));
  return with(std::move(words), more);
}

std::vector<std::string> op_words(const std::string& more) {
  std::vector<std::string> words;
  for (const hcommRedOp_t op : combine_ops()) words.emplace_back(name(op));
  return with(std::move(words), more);
}

std::vector<std::string> algorithm_words(const std::string& more) {
  std::vector<std::string> words;
  for (const Algorithm* algorithm : algorithms()) {
    if (std::ranges::find(words, algorithm->name) == words.end()) words.emplace_back(algorithm->name);
  }
  return with(std::move(words), more);
}

Description describe(const CLI::App& app, const Choices& choices) {
  Description all{.program = describe_command(app, choices), .commands = {}};
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!command->get_group().empty()) all.commands.push_back(describe_command(*command, choices));
  }
  return all;
}

}  // namespace hcomm
