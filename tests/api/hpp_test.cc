// The C++ layer, through the installed headers and the shared library alone: ranks are threads of this process, and each
// test says what it found when all have ended (Catch's checks are for one thread).
#include <hcomm/hcomm.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <complex>
#include <exception>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using hcomm::Communicator;

static_assert(std::is_nothrow_move_constructible_v<Communicator> && std::is_nothrow_move_assignable_v<Communicator>);
static_assert(!std::is_copy_constructible_v<Communicator> && !std::is_copy_assignable_v<Communicator>);
static_assert(!std::is_copy_constructible_v<hcomm::Buffer<float>> && std::is_nothrow_move_constructible_v<hcomm::Buffer<float>>);
static_assert(!std::is_copy_constructible_v<hcomm::Group> && !std::is_move_constructible_v<hcomm::Group>);
static_assert(hcomm::DataType<std::int32_t>::value == hcommInt32 && hcomm::DataType<std::int64_t>::value == hcommInt64);
static_assert(hcomm::DataType<float>::value == hcommFloat32 && hcomm::DataType<double>::value == hcommFloat64);
static_assert(hcomm::DataType<hcomm::float16>::value == hcommFloat16 && hcomm::DataType<hcomm::bfloat16>::value == hcommBfloat16);
static_assert(hcomm::Element<float> && !hcomm::Element<char*> && !hcomm::Element<std::string>);
static_assert(hcomm::Target<std::span<float>> && hcomm::Target<std::vector<float>&> && hcomm::Target<float (&)[4]>);
static_assert(hcomm::Source<std::span<const float>> && !hcomm::Target<std::span<const float>>);
static_assert(!hcomm::Target<const std::vector<float>&> && !hcomm::Source<std::vector<std::string>>);
static_assert(hcomm::Target<hcomm::Buffer<float>&> && !hcomm::Target<const hcomm::Buffer<float>&>);

// Runs body(rank's communicator) in a thread per rank; throws the first rank's exception again.
void on_every_rank(int size, const std::function<void(Communicator&)>& body) {
  std::vector<Communicator> ranks = Communicator::init_all(size);
  std::vector<std::exception_ptr> surprises(ranks.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      threads.emplace_back([&, rank] {
        try {
          body(ranks[rank]);
        } catch (...) {
          surprises[rank] = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& surprise : surprises) {
    if (surprise) std::rethrow_exception(surprise);
  }
}

// The code of the Error that body throws; success if none.
hcommResult_t code_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const hcomm::Error& error) {
    return std::string(error.what()).empty() ? hcommInternalError : error.code();
  }
  return hcommSuccess;
}

template <class T>
int wrong_sums(int size) {
  std::atomic<int> wrong = 0;
  on_every_rank(size, [&](Communicator& comm) {
    std::vector<T> send(1001), recv(1001);
    for (std::size_t i = 0; i < send.size(); ++i) send[i] = static_cast<T>(comm.rank() + static_cast<int>(i));
    comm.all_reduce(std::span<const T>(send), std::span<T>(recv));
    comm.all_reduce(send, hcomm::Op::max);
    for (std::size_t i = 0; i < send.size(); ++i) {
      const int index = static_cast<int>(i);
      if (recv[i] != static_cast<T>(size * index + size * (size - 1) / 2)) ++wrong;
      if (sizeof(T) > 1 && send[i] != static_cast<T>(size - 1 + index)) ++wrong;  // 8 bits wrap before the largest is found
    }
  });
  return wrong;
}

}  // namespace

TEST_CASE("all_reduce is right for every element type of C++") {
  for (const int size : {1, 2, 3, 4}) {
    INFO("ranks " << size);
    CHECK(wrong_sums<std::int8_t>(size) == 0);
    CHECK(wrong_sums<std::uint8_t>(size) == 0);
    CHECK(wrong_sums<std::int16_t>(size) == 0);
    CHECK(wrong_sums<std::uint16_t>(size) == 0);
    CHECK(wrong_sums<std::int32_t>(size) == 0);
    CHECK(wrong_sums<std::uint32_t>(size) == 0);
    CHECK(wrong_sums<std::uint64_t>(size) == 0);
    CHECK(wrong_sums<std::int64_t>(size) == 0);
    CHECK(wrong_sums<float>(size) == 0);
    CHECK(wrong_sums<double>(size) == 0);
  }
}

TEST_CASE("16-bit floats travel as their bits") {
  std::atomic<int> wrong = 0;
  on_every_rank(2, [&](Communicator& comm) {
    std::vector<hcomm::float16> half(33, hcomm::float16{0x3c00});      // 1
    std::vector<hcomm::bfloat16> brain(33, hcomm::bfloat16{0x3f80});  // 1
    comm.all_reduce(half);
    comm.all_reduce(brain);
    wrong += static_cast<int>(33 - std::ranges::count(half, hcomm::float16{0x4000}));      // 2
    wrong += static_cast<int>(33 - std::ranges::count(brain, hcomm::bfloat16{0x4000}));  // 2
  });
  CHECK(wrong == 0);
}

TEST_CASE("bools, complex numbers and 8-bit floats") {
  std::atomic<int> wrong = 0;
  on_every_rank(3, [&](Communicator& comm) {
    using hcomm::Op;
    std::array<bool, 4> truths{};
    for (std::size_t i = 0; i < truths.size(); ++i) truths[i] = i > static_cast<std::size_t>(comm.rank());  // 0, 1, 2, 3 times
    auto all = truths, any = truths;
    comm.all_reduce(all, Op::prod);
    comm.all_reduce(any);
    wrong += all != std::array{false, false, false, true} || any != std::array{false, true, true, true};

    std::vector<std::complex<float>> waves(9, {1, static_cast<float>(comm.rank())});
    comm.all_reduce(waves, Op::avg);
    wrong += waves != std::vector<std::complex<float>>(9, {1, 1});
    std::vector<std::complex<double>> turns(9, {0, 1});
    comm.all_reduce(turns, Op::prod);
    wrong += turns != std::vector<std::complex<double>>(9, {0, -1});
    wrong += code_of([&] { comm.all_reduce(turns, Op::max); }) != hcommInvalidArgument;

    std::vector<hcomm::float8e4m3> small(5, hcomm::float8e4m3{0x38});  // 1
    comm.all_reduce(small);
    wrong += small != std::vector(5, hcomm::float8e4m3{0x44});  // 3
    std::vector<hcomm::float8e5m2> tiny(5, hcomm::float8e5m2{0x3c});  // 1
    comm.all_reduce(tiny, Op::avg);
    wrong += tiny != std::vector(5, hcomm::float8e5m2{0x3c});
  });
  CHECK(wrong == 0);
}

TEST_CASE("every operation has its meaning") {
  std::atomic<int> wrong = 0;
  on_every_rank(3, [&](Communicator& comm) {
    using hcomm::Op;
    for (const auto& [op, expected] :
         {std::pair{Op::sum, 9.0}, {Op::prod, 24.0}, {Op::max, 4.0}, {Op::min, 2.0}, {Op::avg, 3.0}}) {
      std::array<double, 5> data;
      data.fill(comm.rank() + 2.0);
      comm.all_reduce(data, op);
      if (std::ranges::count(data, expected) != 5) ++wrong;
    }
    for (const auto& [op, expected] : {std::pair{Op::band, 0u}, {Op::bor, 7u}, {Op::bxor, 5u},  // of 2, 3 and 4
                                       {Op::land, 1u}, {Op::lor, 1u}, {Op::lxor, 1u}}) {
      std::array<std::uint32_t, 5> data;
      data.fill(static_cast<std::uint32_t>(comm.rank()) + 2);
      comm.all_reduce(data, op);
      if (std::ranges::count(data, expected) != 5) ++wrong;
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("broadcast, reduce, reduce_scatter, all_gather and barrier") {
  std::atomic<int> wrong = 0;
  on_every_rank(3, [&](Communicator& comm) {
    const int rank = comm.rank();
    std::vector<std::int32_t> all(12);
    std::iota(all.begin(), all.end(), 100 * rank);
    std::array<std::int32_t, 4> part{};
    std::vector<float> sum(comm.rank() == 1 ? 6 : 0);
    comm.reduce(std::vector<float>(6, 2), sum, 1);
    wrong += std::ranges::count(sum, 2.0f * static_cast<float>(comm.size())) != std::ssize(sum);
    std::vector<float> mine(6, 3);
    comm.reduce(mine, 0);
    wrong += std::ranges::count(mine, comm.rank() == 0 ? 3.0f * static_cast<float>(comm.size()) : 3.0f) != 6;
    comm.reduce_scatter(all, part);
    for (int i = 0; i < 4; ++i) wrong += part[static_cast<std::size_t>(i)] != 300 + 3 * (4 * rank + i);

    std::vector<std::int32_t> sums(12);
    comm.all_gather(part, sums);
    for (int i = 0; i < 12; ++i) wrong += sums[static_cast<std::size_t>(i)] != 300 + 3 * i;

    std::vector<std::int32_t> gathered(comm.rank() == 1 ? 12 : 0);
    comm.gather(part, gathered, 1);
    if (rank == 1) wrong += gathered != sums;
    std::vector<std::int32_t> scattered(4);
    comm.scatter(gathered, scattered, 1);
    wrong += !std::ranges::equal(scattered, part);
    std::vector<std::int32_t> exchanged(12);
    comm.all_to_all(all, exchanged);
    for (int i = 0; i < 12; ++i) wrong += exchanged[static_cast<std::size_t>(i)] != 100 * (i / 4) + 4 * rank + i % 4;
    comm.all_to_all(exchanged);
    wrong += exchanged != all;

    comm.broadcast(all, 2);
    for (int i = 0; i < 12; ++i) wrong += all[static_cast<std::size_t>(i)] != 200 + i;

    std::int32_t own[3] = {-1, -1, -1};  // in place: the rank's own part of the larger one
    own[rank] = rank;
    comm.all_gather(std::span(own).subspan(static_cast<std::size_t>(rank), 1), own);
    for (int i = 0; i < 3; ++i) wrong += own[i] != i;
    comm.barrier();
  });
  CHECK(wrong == 0);
}

TEST_CASE("empty ranges are legal") {
  std::atomic<int> wrong = 0;
  on_every_rank(2, [&](Communicator& comm) {
    std::vector<float> nothing;
    hcomm::Buffer<float> none;
    comm.all_reduce(nothing, none);
    comm.broadcast(none, 0);
    comm.all_gather(nothing, none);
    comm.reduce_scatter(nothing, none);
    std::array<float, 1> one{1};
    comm.all_reduce(one);
    wrong += one[0] != 2;
  });
  CHECK(wrong == 0);
}

TEST_CASE("wrong sizes are thrown before anything is called") {
  std::atomic<int> refused = 0;
  std::atomic<int> wrong = 0;
  on_every_rank(2, [&](Communicator& comm) {
    std::vector<float> two(2), three(3), four(4);
    if (comm.rank() == 0) {  // nothing is called: rank 1 needs not take part
      refused += code_of([&] { comm.all_reduce(two, three); }) == hcommInvalidArgument;
      refused += code_of([&] { comm.reduce_scatter(three, two); }) == hcommInvalidArgument;
      refused += code_of([&] { comm.all_gather(two, two); }) == hcommInvalidArgument;
      refused += code_of([&] { comm.broadcast(two, 2); }) == hcommInvalidArgument;
      refused += code_of([&] { comm.broadcast(two, -1); }) == hcommInvalidArgument;
      const std::span<float> front = std::span(four).first(2), middle = std::span(four).subspan(1, 2);
      refused += code_of([&] { comm.all_reduce(front, middle); }) == hcommInvalidArgument;
    }
    std::array<float, 1> one{1};
    comm.all_reduce(one);
    wrong += one[0] != 2;
  });
  CHECK(refused == 6);
  CHECK(wrong == 0);
  CHECK(code_of([] { hcomm::Buffer<double>(std::size_t{1} << 62); }) == hcommInvalidArgument);
}

TEST_CASE("errors say what was done, to whom, and why") {
  std::vector<Communicator> one = Communicator::init_all(1);
  std::vector<float> two(2), three(3);
  CHECK_THROWS_WITH(one[0].all_reduce(two, three), Catch::Contains("all_reduce: recv has 3 elements, not 2"));
  CHECK_THROWS_WITH(one[0].broadcast(two, 7), Catch::Contains("broadcast") && Catch::Contains("root 7"));
  CHECK_THROWS_WITH(Communicator::init_all(0), Catch::Contains("at least 1"));
  CHECK(code_of([] { Communicator::init_all(-3); }) == hcommInvalidArgument);
  CHECK(code_of([] { Communicator::init_rank(2, hcomm::UniqueId{}, 2); }) == hcommInvalidArgument);
}

TEST_CASE("from_env without a launcher throws") { CHECK(code_of([] { Communicator::from_env(); }) != hcommSuccess); }

TEST_CASE("init_rank joins by a unique id") {
  Communicator comm = Communicator::init_rank(1, hcomm::make_unique_id(), 0);
  CHECK(comm.size() == 1);
  std::array<double, 2> data{1, 2};
  comm.all_reduce(data);
  CHECK(data == std::array<double, 2>{1, 2});
}

TEST_CASE("a communicator is moved, and what is left is empty") {
  std::vector<Communicator> one = Communicator::init_all(1);
  Communicator moved = std::move(one[0]);
  CHECK(moved.size() == 1);
  CHECK(one[0].handle() == nullptr);
  CHECK(code_of([&] { one[0].barrier(); }) == hcommInvalidArgument);
  CHECK(code_of([&] { static_cast<void>(one[0].rank()); }) == hcommInvalidArgument);
  CHECK(one[0].last_error().empty());

  const hcommComm_t handle = moved.release();
  Communicator again(handle);
  CHECK(again.rank() == 0);
  again = Communicator();  // destroys it
  int rank = 0;
  CHECK(hcommCommUserRank(handle, &rank) == hcommInvalidArgument);
}

TEST_CASE("a buffer owns zeroed memory") {
  hcomm::Buffer<std::int64_t> buffer(1000);
  CHECK(std::ranges::count(buffer, 0) == 1000);
  buffer[999] = 5;
  const std::int64_t* const memory = buffer.data();
  hcomm::Buffer<std::int64_t> moved = std::move(buffer);
  CHECK(moved.data() == memory);
  CHECK(moved.size() == 1000);
  CHECK(std::as_const(moved)[999] == 5);
  CHECK(buffer.empty());
  CHECK(buffer.data() == nullptr);
  buffer = std::move(moved);
  CHECK(buffer.size() == 1000);
  CHECK(hcomm::Buffer<float>(0).empty());
}

TEST_CASE("one thread drives all ranks in a group") {
  std::vector<Communicator> ranks = Communicator::init_all(3);
  std::vector<hcomm::Buffer<float>> data;
  for (std::size_t rank = 0; rank < 3; ++rank) data.emplace_back(10);
  for (std::size_t rank = 0; rank < 3; ++rank) std::ranges::fill(data[rank], static_cast<float>(rank + 1));

  hcomm::Group group;
  for (std::size_t rank = 0; rank < 3; ++rank) ranks[rank].all_reduce(data[rank]);
  CHECK(data[0][0] == 1);  // recorded, not run
  group.end();
  group.end();  // does nothing
  for (const auto& each : data) CHECK(std::ranges::count(each, 6.0F) == 10);

  {
    const hcomm::Group outer;
    const hcomm::Group inner;
    for (std::size_t rank = 0; rank < 3; ++rank) ranks[rank].broadcast(data[rank], 1);
  }  // the outer end issues
  CHECK(code_of([&] { hcomm::Group().end(); }) == hcommSuccess);
}

TEST_CASE("a group whose scope is left by an exception issues nothing") {
  std::vector<Communicator> ranks = Communicator::init_all(2);
  std::vector<float> good(4, 1.0F), other(4, 1.0F), bad(3);
  CHECK(code_of([&] {
          const hcomm::Group group;
          ranks[0].all_reduce(good);
          ranks[1].all_reduce(other, bad);  // throws; rank 1 would never join rank 0
        }) == hcommInvalidArgument);
  CHECK(good == std::vector<float>(4, 1.0F));

  // The thread is outside of groups again, and the communicators are as before.
  {
    const hcomm::Group group;
    ranks[0].all_reduce(good);
    ranks[1].all_reduce(other);
  }
  CHECK(good == std::vector<float>(4, 2.0F));

  // A group around an abandoned one throws when it ends.
  CHECK(code_of([&] {
          hcomm::Group outer;
          ranks[0].all_reduce(good);
          ranks[1].all_reduce(other);
          hcomm::Group().abandon();
          outer.end();
        }) == hcommInvalidArgument);
  CHECK(good == std::vector<float>(4, 2.0F));
}

TEST_CASE("abort reaches every rank, and says so") {
  std::vector<Communicator> ranks = Communicator::init_all(2);
  CHECK(ranks[1].last_error().empty());
  ranks[0].abort();
  CHECK(code_of([&] { ranks[1].barrier(); }) == hcommAborted);
  CHECK_FALSE(ranks[1].last_error().empty());
}
