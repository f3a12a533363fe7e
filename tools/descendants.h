// The processes that descend from this one, found in /proc. With this process as their reaper (PR_SET_CHILD_SUBREAPER) nobody
// can leave the family, not even with setsid or a double fork.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace hcomm {

struct Descendant {
  pid_t pid;
  pid_t parent;
  std::uint64_t start;  // ticks since boot; tells a process from a later one of the same number
};

// Living ones; zombies are not listed.
std::vector<Descendant> descendants();

// Sends a signal to each, and never to another process that got the number of one that ended. Returns how many there were.
int signal_descendants(int signal);

// Reaps what this process inherited. Only for those that nobody waits for.
void reap_orphans();

// Kills all, again and again until there is none, or for about two seconds. Returns how many were left at the end.
int kill_descendants();

}  // namespace hcomm
