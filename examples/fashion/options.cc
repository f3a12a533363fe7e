#include "options.h"

#include <charconv>
#include <limits>
#include <span>
#include <stdexcept>
#include <string_view>

namespace fashion {

const char* const kUsage =
    "usage: hcomm run -n RANKS -- fashion [options]     (or: fashion --single [options])\n"
    "Trains a small classifier on Fashion-MNIST, data-parallel over the ranks.\n"
    "  --epochs N     passes over the training set, 1 to 1000 (6)\n"
    "  --batch N      pictures of all ranks together in one step, 1 to 60000 (256)\n"
    "  --seed N       of the first weights and the order of the pictures (1)\n"
    "  --data FOLDER  with the four .gz files (/usr/share/datasets/fashion-mnist)\n"
    "  --json FILE    rank 0 writes the outcome there\n"
    "  --single       one rank, without a launcher\n";

namespace {

std::uint64_t parse_number(std::string_view option, std::string_view text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    throw std::invalid_argument(std::string(option) + " must be a number from " + std::to_string(least) + " to " +
                                std::to_string(most) + ", not '" + std::string(text) + "'");
  }
  return value;
}

}  // namespace

Options parse_options(int count, const char* const* arguments) {
  Options options;
  const std::span words(arguments, static_cast<std::size_t>(count));
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view option = words[i];
    const auto value = [&]() -> std::string_view {
      if (++i >= words.size()) throw std::invalid_argument(std::string(option) + " needs a value");
      return words[i];
    };
    if (option == "--epochs") {
      options.settings.epochs = static_cast<int>(parse_number(option, value(), 1, 1000));
    } else if (option == "--batch") {
      options.settings.batch = parse_number(option, value(), 1, 60000);
    } else if (option == "--seed") {
      options.settings.seed = parse_number(option, value(), 0, std::numeric_limits<std::uint64_t>::max());
    } else if (option == "--data") {
      options.data = value();
    } else if (option == "--json") {
      options.json = value();
    } else if (option == "--single") {
      options.single = true;
    } else if (option == "--help" || option == "-h") {
      options.help = true;
    } else {
      throw std::invalid_argument("unknown option '" + std::string(option) + "'");
    }
  }
  return options;
}

}  // namespace fashion
