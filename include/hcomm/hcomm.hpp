// hcomm/hcomm.hpp: collective communication between ranks, for C++20. Headers over the C API and the standard library alone.
//
// Conventions (those of <hcomm/hcomm.h> hold as well; here is what C++ adds)
//
//  1. Errors are exceptions: every failure is an hcomm::Error with the code and the library's text. Wrong sizes are thrown
//     before anything is called; hcommInvalidArgument and hcommInvalidUsage change nothing, any other code is final for the
//     communicator: destroy it. Destructors swallow errors, Group's excepted.
//  2. Data are contiguous ranges of one element type: std::span, std::vector, std::array, hcomm::Buffer, a C array. Sizes are
//     numbers of elements, never bytes. A call reads its source and writes its target, and keeps neither after it returns
//     (inside a Group: after the group has ended; the ranges' memory must live until then).
//  3. A call returns when it has completed; the caller's thread did the work. Inside a Group it returns at once.
//  4. A Communicator is used by one thread at a time, different ones by different threads at once. abort() and last_error()
//     may be called at any time from any thread, as long as the object lives.
//  5. Communicator and Buffer own what they hold, can be moved and not copied. A moved-from one is empty: it may be destroyed
//     or assigned to; a call on it throws hcommInvalidArgument.
//  6. Everything lies in the inline namespace v0, so that programs built with different versions of this header do not mix.
#ifndef HCOMM_HCOMM_HPP
#define HCOMM_HCOMM_HPP

#include <hcomm/elements.hpp>
#include <hcomm/hcomm.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace hcomm::inline v0 {

// --- Errors ------------------------------------------------------------------------------------------------------------

class Error : public std::runtime_error {
 public:
  Error(hcommResult_t code, const std::string& text) : std::runtime_error(text), code_(code) {}

  hcommResult_t code() const noexcept { return code_; }

 private:
  hcommResult_t code_;
};

namespace detail {

// Turns a failed call of this thread into an Error: "all_reduce: <the library's text>".
inline void check(hcommResult_t result, const char* doing) {
  if (result == hcommSuccess) return;
  const std::string why = hcommGetLastError(nullptr);
  throw Error(result, std::string(doing) + ": " + (why.empty() ? hcommGetErrorString(result) : why));
}

// The number of elements in `blocks` blocks of `block` elements, or the Error that it does not exist.
inline std::size_t product(std::size_t block, std::size_t blocks, const char* doing) {
  if (blocks != 0 && block > std::numeric_limits<std::size_t>::max() / blocks) {
    throw Error(hcommInvalidArgument, std::string(doing) + ": " + std::to_string(blocks) + " times " + std::to_string(block) +
                                          " is more than memory can hold");
  }
  return block * blocks;
}

inline void check_size(const char* doing, const char* what, std::size_t is, std::size_t wanted) {
  if (is == wanted) return;
  throw Error(hcommInvalidArgument, std::string(doing) + ": " + what + " has " + std::to_string(is) + " elements, not " +
                                        std::to_string(wanted));
}

}  // namespace detail

// --- Memory ------------------------------------------------------------------------------------------------------------

// `size` elements of memory that peers on the host can map, the fastest kind for collectives; zeroed. Any other memory is legal
// everywhere, too. Needs no communicator.
template <class T>
  requires std::is_trivially_copyable_v<T>
class Buffer {
 public:
  Buffer() noexcept = default;
  explicit Buffer(std::size_t size) : size_(size) {
    void* memory = nullptr;
    detail::check(hcommMemAlloc(&memory, detail::product(sizeof(T), size, "Buffer")), "Buffer");
    memory_.reset(static_cast<T*>(memory));
  }
  Buffer(Buffer&& other) noexcept : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    memory_ = std::move(other.memory_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T* data() noexcept { return memory_.get(); }
  const T* data() const noexcept { return memory_.get(); }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + size_; }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size_; }
  T& operator[](std::size_t index) noexcept { return data()[index]; }
  const T& operator[](std::size_t index) const noexcept { return data()[index]; }

 private:
  struct Free {
    void operator()(T* memory) const noexcept { static_cast<void>(hcommMemFree(memory)); }
  };
  std::unique_ptr<T, Free> memory_;
  std::size_t size_ = 0;
};

// --- Groups ------------------------------------------------------------------------------------------------------------

// Between construction and end the collectives of this thread are checked and recorded; the end of the outermost group issues
// all of them, or none if one was refused. Needed where one thread drives several ranks (init_all). Leaving the scope ends the
// group and may throw, as end() does; leaving it by an exception abandons it: nothing of it is issued. Guards nest; they are made
// and ended by the same thread.
//
//   hcomm::Group group;
//   for (hcomm::Communicator& rank : ranks) rank.all_reduce(data[rank.rank()]);
//   group.end();
class Group {
 public:
  Group() : exceptions_(std::uncaught_exceptions()) { detail::check(hcommGroupStart(), "starting a group"); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() noexcept(false) {
    if (std::uncaught_exceptions() > exceptions_) {
      abandon();
    } else {
      end();
    }
  }

  // Issues what was recorded and returns when it has completed. A second call does nothing.
  void end() {
    if (std::exchange(ended_, true)) return;
    detail::check(hcommGroupEnd(), "ending a group");
  }

  // Ends the group; nothing that it, or a group around it, has recorded or will record is issued. A group around it throws
  // when it ends.
  void abandon() noexcept {
    if (std::exchange(ended_, true)) return;
    static_cast<void>(hcommBarrier(nullptr, nullptr));  // a call that is refused, which refuses the group
    static_cast<void>(hcommGroupEnd());
  }

 private:
  int exceptions_;
  bool ended_ = false;
};

// --- Communicators -----------------------------------------------------------------------------------------------------

// Names a meeting that ranks join (init_rank): copy its bytes to every rank, and keep it secret. The process that made it must
// live until all have joined.
using UniqueId = hcommUniqueId;

inline UniqueId make_unique_id() {
  UniqueId id;
  detail::check(hcommGetUniqueId(&id), "making a unique id");
  return id;
}

// One rank of a group of ranks. All ranks call the same collectives in the same order with sizes, types, operations and roots
// that fit. Made by one of the functions below, all of which are collective.
class Communicator {
 public:
  Communicator() noexcept = default;                                          // empty
  explicit Communicator(hcommComm_t handle) noexcept : handle_(handle) {}  // owns it from now on

  // Joins what a launcher (`hcomm run`) started. Throws where there is none: it never falls back to one rank.
  static Communicator from_env() {
    hcommComm_t handle = nullptr;
    detail::check(hcommCommInitEnv(&handle), "joining the launched ranks");
    return Communicator(handle);
  }

  // Joins as `rank` of `size`; returns when all have joined.
  static Communicator init_rank(int size, const UniqueId& id, int rank) {
    hcommComm_t handle = nullptr;
    detail::check(hcommCommInitRank(&handle, size, id, rank), "joining a communicator");
    return Communicator(handle);
  }

  // All ranks of one process, in order. Give each to a thread of its own, or drive all from one thread in Groups.
  static std::vector<Communicator> init_all(int size) {
    if (size < 1) {
      throw Error(hcommInvalidArgument, "init_all: the size must be at least 1, not " + std::to_string(size));
    }
    std::vector<Communicator> ranks(static_cast<std::size_t>(size));
    std::vector<hcommComm_t> handles(ranks.size());
    detail::check(hcommCommInitAll(handles.data(), size), "init_all");
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) ranks[rank].handle_.reset(handles[rank]);
    return ranks;
  }

  int rank() const {
    int rank = 0;
    detail::check(hcommCommUserRank(handle(), &rank), "rank");
    return rank;
  }

  int size() const {
    int size = 0;
    detail::check(hcommCommCount(handle(), &size), "size");
    return size;
  }

  hcommComm_t handle() const noexcept { return handle_.get(); }  // for the C API; still owned here
  hcommComm_t release() noexcept { return handle_.release(); }   // the caller destroys it

  // Makes every present and future call on every rank fail with hcommAborted.
  void abort() const { detail::check(hcommCommAbort(handle()), "abort"); }

  // What made the communicator fail; empty while it is well.
  std::string last_error() const { return handle_ == nullptr ? std::string() : std::string(hcommGetLastError(handle())); }

  // recv[i] = op over all ranks' send[i], on every rank. send and recv are of one size, and the same memory or disjoint.
  template <Source Send, Target Recv>
    requires SameElements<Send, Recv>
  void all_reduce(const Send& send, Recv&& recv, Op op = Op::sum) {
    detail::check_size("all_reduce", "recv", std::ranges::size(recv), std::ranges::size(send));
    detail::check(hcommAllReduce(std::ranges::data(send), std::ranges::data(recv), std::ranges::size(send), type_of<Send>(),
                                 c_op(op), handle(), nullptr),
                  "all_reduce");
  }

  // The same in place.
  template <Target Data>
  void all_reduce(Data&& data, Op op = Op::sum) {
    all_reduce(std::as_const(data), data, op);
  }

  // The root's data, on every rank.
  template <Target Data>
  void broadcast(Data&& data, int root) {
    detail::check(hcommBroadcast(std::ranges::data(data), std::ranges::data(data), std::ranges::size(data), type_of<Data>(), root,
                                 handle(), nullptr),
                  "broadcast");
  }

  // recv[i] = op over all ranks' send[i], on the root; elsewhere recv is left alone and may be empty.
  template <Source Send, Target Recv>
    requires SameElements<Send, Recv>
  void reduce(const Send& send, Recv&& recv, int root, Op op = Op::sum) {
    if (rank() == root) detail::check_size("reduce", "recv", std::ranges::size(recv), std::ranges::size(send));
    detail::check(hcommReduce(std::ranges::data(send), std::ranges::data(recv), std::ranges::size(send), type_of<Send>(),
                              c_op(op), root, handle(), nullptr),
                  "reduce");
  }

  // The same in place, on the root; elsewhere data is only read.
  template <Target Data>
  void reduce(Data&& data, int root, Op op = Op::sum) {
    reduce(std::as_const(data), data, root, op);
  }

  // recv[i] = op over all ranks' send[rank * recv.size() + i]: send has size() blocks, recv is one. recv may be the rank's own
  // block of send; any other overlap is an error.
  template <Source Send, Target Recv>
    requires SameElements<Send, Recv>
  void reduce_scatter(const Send& send, Recv&& recv, Op op = Op::sum) {
    const std::size_t block = std::ranges::size(recv);
    detail::check_size("reduce_scatter", "send", std::ranges::size(send), blocks_of(block, "reduce_scatter"));
    detail::check(hcommReduceScatter(std::ranges::data(send), std::ranges::data(recv), block, type_of<Send>(), c_op(op), handle(),
                                     nullptr),
                  "reduce_scatter");
  }

  // recv[r * send.size() + i] = rank r's send[i]: send is one block, recv has size() of them. send may be the rank's own block
  // of recv; any other overlap is an error.
  template <Source Send, Target Recv>
    requires SameElements<Send, Recv>
  void all_gather(const Send& send, Recv&& recv) {
    const std::size_t block = std::ranges::size(send);
    detail::check_size("all_gather", "recv", std::ranges::size(recv), blocks_of(block, "all_gather"));
    detail::check(hcommAllGather(std::ranges::data(send), std::ranges::data(recv), block, type_of<Send>(), handle(), nullptr),
                  "all_gather");
  }

  // recv[r * send.size() + i] = rank r's send[i], on the root: send is one block, recv has size() of them; elsewhere recv is left
  // alone and may be empty. On the root send may be its own block of recv; any other overlap is an error.
  template <Source Send, Target Recv>
    requires SameElements<Send, Recv>
  void gather(const Send& send, Recv&& recv, int root) {
    const std::size_t block = std::ranges::size(send);
    if (rank() == root) detail::check_size("gather", "recv", std::ranges::size(recv), blocks_of(block, "gather"));
    detail::check(hcommGather(std::ranges::data(send), std::ranges::data(recv), block, type_of<Send>(), root, handle(),
                              nullptr),
                  "gather");
  }

  // recv[i] = the root's send[rank * recv.size() + i]: recv is one block, the root's send has size() of them; elsewhere send is
  // not read and may be empty. On the root recv may be its own block of send; any other overlap is an error.
  template <Source Send, Target Recv>
    requires SameElements<Send, Recv>
  void scatter(const Send& send, Recv&& recv, int root) {
    const std::size_t block = std::ranges::size(recv);
    if (rank() == root) detail::check_size("scatter", "send", std::ranges::size(send), blocks_of(block, "scatter"));
    detail::check(hcommScatter(std::ranges::data(send), std::ranges::data(recv), block, type_of<Send>(), root, handle(),
                               nullptr),
                  "scatter");
  }

  // Block r of recv = block rank of rank r's send; both have size() blocks of one size. send and recv are the same memory or
  // disjoint.
  template <Source Send, Target Recv>
    requires SameElements<Send, Recv>
  void all_to_all(const Send& send, Recv&& recv) {
    const std::size_t block = std::ranges::size(send) / static_cast<std::size_t>(size());
    detail::check_size("all_to_all", "send", std::ranges::size(send), blocks_of(block, "all_to_all"));
    detail::check_size("all_to_all", "recv", std::ranges::size(recv), std::ranges::size(send));
    detail::check(hcommAllToAll(std::ranges::data(send), std::ranges::data(recv), block, type_of<Send>(), handle(), nullptr),
                  "all_to_all");
  }

  // The same in place.
  template <Target Data>
  void all_to_all(Data&& data) {
    all_to_all(std::as_const(data), data);
  }

  // Returns on no rank before every rank has called it.
  void barrier() { detail::check(hcommBarrier(handle(), nullptr), "barrier"); }

 private:
  struct Destroy {
    void operator()(hcommComm_t handle) const noexcept { static_cast<void>(hcommCommDestroy(handle)); }
  };

  template <class Range>
  static constexpr hcommDataType_t type_of() {
    return DataType<std::ranges::range_value_t<Range>>::value;
  }
  static constexpr hcommRedOp_t c_op(Op op) { return static_cast<hcommRedOp_t>(op); }

  std::size_t blocks_of(std::size_t block, const char* doing) const {
    return detail::product(block, static_cast<std::size_t>(size()), doing);
  }

  std::unique_ptr<std::remove_pointer_t<hcommComm_t>, Destroy> handle_;
};

}  // namespace hcomm::inline v0

#endif
