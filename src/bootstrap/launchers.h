// The launchers that people have, as data: how each is recognised, and in which variables it tells what.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hcomm {

using Names = std::span<const std::string_view>;

// How rank 0's host is told.
enum class FirstHost : std::uint8_t { untold, here, variable, node_list, rank_table };

struct Launcher {
  std::string_view name;   // "Open MPI"
  std::string_view how;    // to start a program with it
  Names marks;             // any of these shows it; "A+B": both are set
  std::string_view rank;   // variables; empty where there is none
  std::string_view size;
  std::string_view local_rank;
  std::string_view local_size;
  std::string_view hosts;  // how many there are
  std::string_view step;   // numbers that say what kind of step this is: the last 16 of 32 bits are shells and scripts, no tasks
  Names needs;             // what else must be set
  Names run;               // name the run, those of them that are set; none: the launcher's process does
  FirstHost first_host = FirstHost::untold;
  std::string_view host_variable;  // of FirstHost::variable and node_list
  Names processes;         // of the launcher, that start the ranks: one of them among a rank's ancestors is evidence
  std::string_view why;    // it counts before those behind it in the table, where processes do not tell
};

// In the order in which they count.
std::span<const Launcher> launchers();

}  // namespace hcomm
