// What rank 0 tells: a line per epoch, the verdict, and the same as JSON.
#pragma once

#include <fstream>
#include <string>

#include "train.h"

namespace fashion {

void print_epoch(const Epoch& epoch);
void print_outcome(const Outcome& outcome, double seconds);

// One object. Throws std::runtime_error if the file cannot be written.
std::ofstream open_json(const std::string& path);
void write_json(std::ofstream& file, int ranks, const Settings& settings, const Outcome& outcome, double seconds);

}  // namespace fashion
