#include "transport/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "transport/cursor.h"

namespace hcomm {
namespace {

constexpr std::uint64_t kMagic = 0x31676573'6d6d6f63;  // "commseg1" as a little-endian machine writes it
constexpr std::uint64_t kVersion = 3;
constexpr std::size_t kLinesBytes = 128;  // two lines, which processors fetch together
constexpr std::size_t kRingUnitBytes = 4096;  // the usual page; where pages are larger, rings of one writer share them

// Each field holds 0 (nobody was here) or its value + 1. The first rank to come sets it, the others compare.
struct Header {
  std::atomic<std::uint64_t> magic;
  std::atomic<std::uint64_t> version;
  std::atomic<std::uint64_t> ranks;
  std::atomic<std::uint64_t> slots;
  std::atomic<std::uint64_t> slot_bytes;
  std::atomic<std::uint64_t> ring_bytes;
};

Status system_failure(const std::string& what, int error) {
  const bool out_of_memory = error == ENOMEM;
  return Status::failure(out_of_memory ? hcommOutOfMemory : hcommSystemError, what + ": " + std::strerror(error));
}

// ftruncate beyond the limit would raise SIGXFSZ, which ends the process.
Status check_file_limit(std::size_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur) {
    return Status::failure(hcommSystemError, "shared memory of " + std::to_string(bytes) +
                                                 " bytes (mostly untouched) is above the file size limit of " +
                                                 std::to_string(limit.rlim_cur) + "; raise it: ulimit -f unlimited");
  }
  return {};
}

// A file that cannot shrink cannot kill its readers with SIGBUS.
Status check_file(int segment_fd, std::size_t end) {
  struct stat file{};
  if (fstat(segment_fd, &file) != 0) return system_failure("looking at the shared memory segment", errno);
  const int seals = fcntl(segment_fd, F_GET_SEALS);
  if (!S_ISREG(file.st_mode) || seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    return Status::failure(hcommInvalidArgument, "the shared memory segment is not a sealed memory file");
  }
  if (file.st_size < 0 || static_cast<std::uint64_t>(file.st_size) < end) {
    return Status::failure(hcommMismatch, "the shared memory segment has " + std::to_string(file.st_size) + " bytes, " +
                                              std::to_string(end) + " are needed; do all ranks use the same settings?");
  }
  return {};
}

}  // namespace

Layout::Layout(const Geometry& geometry) {
  const auto ranks = static_cast<std::size_t>(geometry.ranks);
  const auto slots_of_all = ranks * static_cast<std::size_t>(geometry.slots);
  std::size_t end = sizeof(Header);
  const auto place = [&end](std::size_t part_bytes, std::size_t unit) {
    const std::size_t start = round_up(end, unit);
    end = start + part_bytes;
    return start;
  };
  verdict = place(sizeof(VerdictCell), kLinesBytes);
  lives = place(ranks * sizeof(Life), kLinesBytes);
  pulses = place(ranks * sizeof(Pulse), kLinesBytes);
  steps = place(ranks * sizeof(StepLine), kLinesBytes);
  doorbells = place(ranks * sizeof(Doorbell), kLinesBytes);
  records = place(slots_of_all * sizeof(ExposedRecord), kLinesBytes);
  slots = place(slots_of_all * geometry.slot_bytes, kPageBytes);
  ring_stride = round_up(sizeof(RingControl) + geometry.ring_bytes, kRingUnitBytes);
  rings = place(ranks * ranks * kLanes * ring_stride, kPageBytes);
  bytes = round_up(end, kPageBytes);
}

Status check_shm_geometry(const Geometry& geometry) {
  if (Status status = check_geometry(geometry.ranks, geometry.slots, geometry.slot_bytes); !status.ok()) return status;
  if (geometry.ranks > kMaxShmRanks) {
    return Status::failure(hcommInvalidArgument, std::to_string(geometry.ranks) + " ranks on one host; shared memory serves " +
                                                     std::to_string(kMaxShmRanks));
  }
  const std::size_t ring = geometry.ring_bytes;
  if (ring < kMinRingBytes || ring > kMaxRingBytes || (ring & (ring - 1)) != 0) {
    return Status::failure(hcommInvalidArgument, "rings of " + std::to_string(ring) + " bytes; legal are powers of two from " +
                                                     std::to_string(kMinRingBytes) + " to " + std::to_string(kMaxRingBytes));
  }
  return {};
}

std::size_t shm_segment_bytes(int ranks, int slots, std::size_t slot_bytes, std::size_t ring_bytes, int contexts) {
  const Geometry geometry = {.ranks = ranks, .slots = slots, .slot_bytes = slot_bytes, .ring_bytes = ring_bytes};
  if (!check_shm_geometry(geometry).ok() || contexts < 1 || contexts > kMaxContexts) return 0;
  return Layout(geometry).bytes * static_cast<std::size_t>(contexts);
}

Result<int> create_segment(std::size_t bytes) {
  if (bytes == 0 || bytes > static_cast<std::size_t>(INT64_MAX)) {
    return Status::failure(hcommInvalidArgument, "a shared memory segment of " + std::to_string(bytes) + " bytes");
  }
  if (Status status = check_file_limit(bytes); !status.ok()) return status;
  const int fd = memfd_create("hcomm", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return system_failure("making a memory file", errno);
  const bool made = fchmod(fd, 0600) == 0 && ftruncate(fd, static_cast<off_t>(bytes)) == 0 &&
                    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
  if (made) return fd;
  const int error = errno;
  close(fd);
  return system_failure("sizing a memory file to " + std::to_string(bytes) + " bytes", error);
}

Result<Context> Context::map(int segment_fd, int context, const Geometry& geometry) {
  if (Status status = check_shm_geometry(geometry); !status.ok()) return status;
  if (context < 0 || context >= kMaxContexts) {
    return Status::failure(hcommInvalidArgument, "communicator area " + std::to_string(context) + "; legal are 0 to " +
                                                     std::to_string(kMaxContexts - 1));
  }
  Context mapped;
  mapped.geometry_ = geometry;
  mapped.layout_ = Layout(geometry);
  const std::size_t bytes = mapped.layout_.bytes;
  const std::size_t start = bytes * static_cast<std::size_t>(context);
  if (Status status = check_file(segment_fd, start + bytes); !status.ok()) return status;
  void* const base =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, segment_fd, static_cast<off_t>(start));
  if (base == MAP_FAILED) {
    return system_failure("mapping " + std::to_string(bytes) + " bytes of shared memory (see ulimit -v)", errno);
  }
  mapped.base_ = static_cast<std::byte*>(base);
  if (madvise(base, bytes, MADV_DONTFORK) != 0) return system_failure("keeping shared memory from children", errno);
  madvise(base, bytes, MADV_DONTDUMP);  // a core file of it would be gigabytes; a refusal does not matter
  if (Status status = mapped.check_header(); !status.ok()) return status;
  return mapped;
}

Status Context::check_header() const {
  Header& header = *at<Header>(0);
  struct Field {
    std::string_view name;
    std::atomic<std::uint64_t>& shared;
    std::uint64_t expected;
  };
  const std::array fields = {
      Field{"the magic number", header.magic, kMagic},
      Field{"the version", header.version, kVersion},
      Field{"the number of ranks", header.ranks, static_cast<std::uint64_t>(geometry_.ranks)},
      Field{"the number of slots (HCOMM_SLOTS)", header.slots, static_cast<std::uint64_t>(geometry_.slots)},
      Field{"the size of a slot (HCOMM_BUFFSIZE)", header.slot_bytes, geometry_.slot_bytes},
      Field{"the size of a ring", header.ring_bytes, geometry_.ring_bytes},
  };
  for (const Field& field : fields) {
    std::uint64_t found = 0;
    if (field.shared.compare_exchange_strong(found, field.expected + 1)) continue;
    if (found == field.expected + 1) continue;
    return Status::failure(hcommMismatch, std::string(field.name) + " is " + std::to_string(found - 1) +
                                              " in shared memory and " + std::to_string(field.expected) +
                                              " here; all ranks must use the same version and settings");
  }
  return {};
}

Context::Context(Context&& other) noexcept
    : geometry_(other.geometry_), layout_(other.layout_), base_(std::exchange(other.base_, nullptr)) {}

Context& Context::operator=(Context&& other) noexcept {
  std::swap(geometry_, other.geometry_);
  std::swap(layout_, other.layout_);
  std::swap(base_, other.base_);
  return *this;
}

Context::~Context() {
  if (base_ != nullptr) munmap(base_, layout_.bytes);
}

Window Context::window(int self) const {
  return {.ranks = geometry_.ranks,
          .self = self,
          .slots = geometry_.slots,
          .slot_bytes = geometry_.slot_bytes,
          .steps = at<StepLine>(layout_.steps),
          .doorbells = at<Doorbell>(layout_.doorbells),
          .records = at<ExposedRecord>(layout_.records),
          .slot_memory = at<std::byte>(layout_.slots)};
}

Board Context::board() const { return {geometry_.ranks, at<Life>(layout_.lives), at<VerdictCell>(layout_.verdict)}; }

std::size_t Context::ring_index(int from, int to, int lane) const {
  const auto ranks = static_cast<std::size_t>(geometry_.ranks);
  return (static_cast<std::size_t>(from) * ranks + static_cast<std::size_t>(to)) * kLanes + static_cast<std::size_t>(lane);
}

RingControl& Context::ring_control(int from, int to, int lane) const {
  return *at<RingControl>(layout_.rings + ring_index(from, to, lane) * layout_.ring_stride);
}

std::byte* Context::ring_data(int from, int to, int lane) const {
  return at<std::byte>(layout_.rings + ring_index(from, to, lane) * layout_.ring_stride + sizeof(RingControl));
}

}  // namespace hcomm
