#include "manual_page.h"

#include <string_view>

#include "base/knobs.h"

namespace hcomm {
namespace {

// No letter of it means anything to roff, wherever it stands in a line that does not begin with it.
std::string plain(std::string_view text) {
  std::string roff;
  for (const char letter : text) {
    if (letter == '\\') {
      roff += "\\e";
    } else if (letter == '-') {
      roff += "\\-";
    } else if (letter == '\'') {
      roff += "\\(aq";
    } else {
      roff += letter;
    }
  }
  return roff;
}

// Lines of running text; one that would begin with a dot is none of roff's requests.
std::string paragraph(std::string_view text) {
  std::string roff;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    roff += (text.starts_with('.') ? "\\&" : "") + plain(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return roff;
}

std::string bold(std::string_view text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + plain(text) + "\\fR"; }

std::string header(const std::string& page, const std::string& help, const std::string& version) {
  return ".TH \"" + plain(page) + "\" 1 \"\" \"" + plain(version) + "\" \"User Commands\"\n.SH NAME\n" + plain(page) + " \\- " +
         paragraph(help);
}

std::string entry(const OptionDescription& option) {
  std::string roff = ".TP\n";
  for (std::size_t i = 0; i < option.names.size(); ++i) {
    roff += (i == 0 ? "" : ", ") + (option.is_flag() || option.names[i].starts_with('-') ? bold(option.names[i])
                                                                                       : italic(option.names[i]));
  }
  if (!option.is_flag()) roff += " " + italic(option.value) + (option.repeats ? " ..." : "");
  roff += "\n" + paragraph(option.help + (option.required ? ". Required." : "."));
  if (!option.otherwise.empty()) roff += paragraph("The default is " + option.otherwise + ".");
  if (!option.choices.empty()) {
    std::string words;
    for (const std::string& word : option.choices) words += (words.empty() ? "" : ", ") + word;
    roff += paragraph("Legal are " + words + ".");
  }
  return roff;
}

std::string entries(std::string_view heading, const std::vector<OptionDescription>& options) {
  if (options.empty()) return "";
  std::string roff = ".SH " + std::string(heading) + "\n";
  for (const OptionDescription& option : options) roff += entry(option);
  return roff;
}

std::string synopsis(const CommandDescription& command) {
  std::string roff = ".SH SYNOPSIS\n" + bold("hcomm " + command.name);
  for (const OptionDescription& option : command.options) {
    if (!option.required) continue;
    roff += " " + bold(option.names.front()) + (option.is_flag() ? "" : " " + italic(option.value));
  }
  roff += " [" + italic("OPTION") + "]...";
  for (const OptionDescription& positional : command.positionals) {
    const std::string name = italic(positional.names.front()) + (positional.repeats ? "..." : "");
    roff += positional.required ? " " + name : " [" + name + "]";
  }
  if (command.runs_program) roff += " " + bold("--") + " " + italic("PROGRAM") + " [" + italic("ARGUMENT") + "]...";
  return roff + "\n";
}

constexpr std::string_view kExitStatus =
    "0: well. 1: a wrong result, or a run that failed. 2: wrong usage, with one line that says what is wrong and what is\n"
    "legal.\n";
constexpr std::string_view kExitStatusOfRun =
    "That of the rank that failed first: 128 and the number of the signal that ended it, 127 if the program is not found,\n"
    "126 if it cannot be executed. 2: wrong usage.\n";

}  // namespace

std::string program_page(const Description& description, const std::string& version) {
  std::string roff = header("hcomm", "collective communication between ranks that run on CPUs", version);
  roff += ".SH SYNOPSIS\n" + bold("hcomm") + " " + italic("COMMAND") + " [" + italic("WORD") + "]...\n.SH DESCRIPTION\n" +
          paragraph(description.program.help) + ".SH COMMANDS\n";
  for (const CommandDescription& command : description.commands) {
    roff += ".TP\n.BR \"" + plain("hcomm-" + command.name) + "\" (1)\n" + paragraph(command.help + ".");
  }
  roff += entries("OPTIONS", description.program.options) + ".SH \"EXIT STATUS\"\n" + paragraph(kExitStatus) +
          ".SH ENVIRONMENT\n" +
          paragraph("A setting is taken from the environment, from ~/.hcomm.conf or from /etc/hcomm.conf, one NAME=VALUE a\n"
                    "line; the first of these counts. A value that is not legal is an error.");
  for (const Knob& knob : knobs()) {
    roff += ".TP\n" + bold(knob.name) + "\n" + paragraph(std::string(knob.help) + ". Legal: " + std::string(knob.grammar) + ".");
    if (!knob.default_text.empty()) roff += paragraph("The default is " + std::string(knob.default_text) + ".");
    if (knob.must_agree) roff += paragraph("Must be the same on all ranks.");
  }
  return roff;
}

std::string command_page(const Description& description, const CommandDescription& command, const std::string& version) {
  std::string roff = header("hcomm-" + command.name, command.help, version) + synopsis(command) + ".SH DESCRIPTION\n" +
                     paragraph(command.help + ".");
  if (!command.footer.empty()) roff += ".PP\n" + paragraph(command.footer);
  roff += entries("ARGUMENTS", command.positionals) + entries("OPTIONS", command.options) + ".SH \"EXIT STATUS\"\n" +
          paragraph(command.runs_program ? kExitStatusOfRun : kExitStatus) + ".SH \"SEE ALSO\"\n.BR hcomm (1)";
  for (const CommandDescription& other : description.commands) {
    if (other.name != command.name) roff += ",\n.BR \"" + plain("hcomm-" + other.name) + "\" (1)";
  }
  return roff + "\n";
}

}  // namespace hcomm
