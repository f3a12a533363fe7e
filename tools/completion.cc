#include "completion.h"

#include <string_view>

namespace hcomm {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(between)) + word;
  return text;
}

// Within '...' of a shell; `escape` stands for a ' in it.
std::string quoted(std::string_view text, std::string_view escape) {
  std::string safe;
  for (const char letter : text) safe += letter == '\'' ? std::string(escape) : std::string(1, letter);
  return "'" + safe + "'";
}

std::string replaced(std::string_view text, std::string_view special, char before) {
  std::string safe;
  for (const char letter : text) {
    if (special.find(letter) != std::string_view::npos) safe += before;
    safe += letter;
  }
  return safe;
}

// --- bash ---------------------------------------------------------------------------------------------------------------

std::string bash_words(const std::vector<std::string>& words) { return "compgen -W '" + joined(words, " ") + "' -- \"$word\""; }

std::string bash_values(const OptionDescription& option) {
  return option.takes_files() ? "compgen -f -- \"$word\"" : bash_words(option.choices);
}

// Prints what may follow an option with a value, and else: options, and what positionals may be.
std::string bash_command(const CommandDescription& command) {
  std::string text = "    " + command.name + ")\n      case $before in\n";
  std::vector<std::string> names;
  for (const OptionDescription& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
    if (option.is_flag()) continue;
    const bool says_nothing = option.choices.empty() && !option.takes_files();
    text += "        " + joined(option.names, " | ") + ") " + (says_nothing ? "" : bash_values(option) + " ") + ";;\n";
  }
  text += "        *)\n          " + bash_words(names) + "\n";
  for (const OptionDescription& positional : command.positionals) {
    text += "          [[ $word == -?* ]] || " + bash_values(positional) + "\n";
  }
  return text + "          ;;\n      esac\n      ;;\n";
}

constexpr std::string_view kBashBegin = R"(# Completion of hcomm for bash. Made by `hcomm completion bash`.
_hcomm_words() {
  local word=$1 before=$2 command=$3
  case $command in
)";

constexpr std::string_view kBashEnd = R"(  esac
}
_hcomm() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= i
  [[ $word == = ]] && word=
  [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
      --)  # another program's words
        if declare -F _command_offset >/dev/null && ((i + 1 < COMP_CWORD)); then
          _command_offset $((i + 1))
        else
          mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
        fi
        return ;;
      -*) ;;
      *) [[ -n $command ]] || command=${COMP_WORDS[i]} ;;
    esac
  done
  mapfile -t COMPREPLY < <(_hcomm_words "$word" "$before" "$command")
}
complete -o filenames -F _hcomm hcomm
)";

// --- zsh ----------------------------------------------------------------------------------------------------------------

std::string zsh_values(const OptionDescription& option) {
  if (option.takes_files()) return "_files";
  return option.choices.empty() ? " " : "(" + joined(option.choices, " ") + ")";
}

std::string zsh_help(const OptionDescription& option) { return "[" + replaced(option.help, "[]:\\", '\\') + "]"; }

// One specification of _arguments.
std::string zsh_option(const OptionDescription& option) {
  const std::string value = option.is_flag() ? "" : ":" + option.value + ":" + zsh_values(option);
  if (option.names.size() == 1) return quoted(option.names.front() + zsh_help(option) + value, "'\\''");
  return "'(" + joined(option.names, " ") + ")'{" + joined(option.names, ",") + "}" + quoted(zsh_help(option) + value, "'\\''");
}

std::string zsh_command(const CommandDescription& command) {
  std::string text = "        " + command.name + ")\n          _arguments";
  for (const OptionDescription& option : command.options) text += " \\\n            " + zsh_option(option);
  int place = 0;
  for (const OptionDescription& positional : command.positionals) {
    ++place;
    const std::string where = positional.repeats ? "*" : std::to_string(place);
    text += " \\\n            " + quoted(where + ":" + positional.names.front() + ":" + zsh_values(positional), "'\\''");
  }
  if (command.runs_program) text += " \\\n            '*::program:_normal'";
  return text + "\n          ;;\n";
}

// --- fish ---------------------------------------------------------------------------------------------------------------

std::string fish_option(const OptionDescription& option, const std::string& condition) {
  std::string text = "complete -c hcomm -n '" + condition + "'";
  for (const std::string& name : option.names) text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.is_flag()) text += option.takes_files() ? " -r -F" : " -x";
  if (!option.choices.empty()) text += " -a '" + joined(option.choices, " ") + "'";
  return text + " -d " + quoted(replaced(option.help, "\\", '\\'), "\\'") + "\n";
}

}  // namespace

std::string bash_completion(const Description& description) {
  std::string text(kBashBegin);
  std::vector<std::string> first;
  for (const CommandDescription& command : description.commands) first.push_back(command.name);
  for (const OptionDescription& option : description.program.options)
    first.insert(first.end(), option.names.begin(), option.names.end());
  text += "    '') " + bash_words(first) + " ;;\n";
  for (const CommandDescription& command : description.commands) text += bash_command(command);
  return text + std::string(kBashEnd);
}

std::string zsh_completion(const Description& description) {
  std::string text = "#compdef hcomm\n# Completion of hcomm for zsh. Made by `hcomm completion zsh`.\n_hcomm() {\n"
                     "  local -a commands=(\n";
  for (const CommandDescription& command : description.commands)
    text += "    " + quoted(command.name + ":" + command.help, "'\\''") + "\n";
  text += "  )\n  local context state state_descr line\n  typeset -A opt_args\n  _arguments -C";
  for (const OptionDescription& option : description.program.options) text += " \\\n    " + zsh_option(option);
  text += " \\\n    '1: :->command' '*:: :->words'\n  case $state in\n    command) _describe command commands ;;\n"
          "    words)\n      case $words[1] in\n";
  for (const CommandDescription& command : description.commands) text += zsh_command(command);
  return text + "      esac\n      ;;\n  esac\n}\n"
                "if [[ $funcstack[1] == _hcomm ]]; then _hcomm \"$@\"; else compdef _hcomm hcomm; fi\n";
}

std::string fish_completion(const Description& description) {
  std::string text = "# Completion of hcomm for fish. Made by `hcomm completion fish`.\ncomplete -c hcomm -f\n";
  for (const OptionDescription& option : description.program.options) text += fish_option(option, "__fish_use_subcommand");
  for (const CommandDescription& command : description.commands) {
    const std::string here = "__fish_seen_subcommand_from " + command.name;
    text += "complete -c hcomm -n __fish_use_subcommand -a " + command.name + " -d " + quoted(command.help, "\\'") + "\n";
    for (const OptionDescription& option : command.options) text += fish_option(option, here);
    for (const OptionDescription& positional : command.positionals) {
      text += "complete -c hcomm -n '" + here + "' " +
              (positional.takes_files() ? "-F" : "-a '" + joined(positional.choices, " ") + "'") + " -d " +
              quoted(positional.names.front(), "\\'") + "\n";
    }
    if (command.runs_program) text += "complete -c hcomm -n '" + here + "' -a '(__fish_complete_command)' -F\n";
  }
  return text;
}

}  // namespace hcomm
