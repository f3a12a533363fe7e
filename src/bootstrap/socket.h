// The few calls of abstract Unix packet sockets that a meeting needs. All descriptors are close-on-exec and non-blocking; EINTR
// is never visible; SIGPIPE is never raised.
#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/status.h"
#include "bootstrap/job_id.h"

namespace hcomm {

// What it means that nobody serves a meeting.
enum class Absent : unsigned char { is_an_error, may_come };

// Waits for another process to leave the name until `deadline`.
Result<Descriptor> listen_at(const JobId& id, TimeNs deadline = 0);

enum class Knock : unsigned char { answered, nobody, full };
struct Visit {
  Knock knock = Knock::nobody;
  Descriptor socket;  // if answered
};
// Does not wait: nobody may listen at that name, or its backlog may be full.
Result<Visit> visit(const JobId& id);

// The other end as the kernel knows it: of an accepted connection who connected, of a made one who listens.
struct SocketPeer {
  pid_t pid = 0;  // 0: in a pid namespace that cannot be seen from here
  uid_t uid = 0;
};
std::optional<SocketPeer> peer_process(const Descriptor& socket);

enum class Sent : unsigned char { yes, later, never };
// One packet, with up to 2 descriptors. `later`: the other end's queue is full, or too many descriptors are under way.
Sent send_packet(const Descriptor& socket, ConstBytes packet, std::span<const int> descriptors = {});

enum class Received : unsigned char { packet, nothing, end };
struct Packet {
  Received state = Received::nothing;
  ConstBytes bytes;                        // of the buffer
  std::array<Descriptor, 2> descriptors;   // sent with it
  bool descriptors_lost = false;           // this process had no room for them
};
// A packet longer than the buffer arrives cut; a buffer of kMaxMessageBytes makes that malformed.
Packet receive_packet(const Descriptor& socket, Bytes buffer);

// A file in memory with these contents that nobody can change any more.
Result<Descriptor> sealed_memory(ConstBytes contents);
// Reads such a file whole; refuses one of another size, or one that could still change.
Result<std::vector<std::byte>> read_sealed(const Descriptor& file, std::size_t bytes);

}  // namespace hcomm
