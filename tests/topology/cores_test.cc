// Cores that may be used: real masks, and cgroup trees made for the purpose.
#include "topology/cores.h"

#include <sched.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include <catch2/catch.hpp>

#include "base/temp_folder.h"

namespace hcomm {
namespace {

// A tree of cgroups in a folder of its own.
class Cgroups {
 public:
  explicit Cgroups(const std::string& membership) { write("membership", membership); }

  Cgroups& add(const std::string& file, const std::string& text) {
    write("root/" + file, text);
    return *this;
  }
  CgroupPaths paths() const { return {.membership = folder_.file("membership"), .root = folder_.file("root")}; }

 private:
  void write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = folder_.file(file);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }

  TempFolder folder_;
};

}  // namespace

TEST_CASE("a version 2 quota is read from the group and from all that contain it") {
  CHECK(cpu_quota(Cgroups("0::/a/b").add("a/b/cpu.max", "150000 100000").paths()) == 1.5);
  CHECK(cpu_quota(Cgroups("0::/a/b").add("a/b/cpu.max", "max 100000").add("a/cpu.max", "50000 100000").paths()) == 0.5);
  CHECK(cpu_quota(Cgroups("0::/a").add("a/cpu.max", "300000 100000").add("cpu.max", "200000 100000").paths()) == 2);
  CHECK(cpu_quota(Cgroups("0::/").add("cpu.max", "400000 100000").paths()) == 4);
  CHECK_FALSE(cpu_quota(Cgroups("0::/a").add("a/cpu.max", "max 100000").paths()));
}

TEST_CASE("a version 1 quota is read from the cpu controller, whatever it is mounted with") {
  const std::string line = "7:memory:/x\n4:cpu,cpuacct:/a\n1:name=systemd:/x";
  Cgroups both(line);
  both.add("cpu,cpuacct/a/cpu.cfs_quota_us", "250000").add("cpu,cpuacct/a/cpu.cfs_period_us", "100000");
  CHECK(cpu_quota(both.paths()) == 2.5);
  Cgroups alone("2:cpu:/a");
  alone.add("cpu/a/cpu.cfs_quota_us", "-1").add("cpu/a/cpu.cfs_period_us", "100000");
  CHECK_FALSE(cpu_quota(alone.paths()));
  alone.add("cpu/cpu.cfs_quota_us", "100000").add("cpu/cpu.cfs_period_us", "100000");
  CHECK(cpu_quota(alone.paths()) == 1);
  CHECK_FALSE(cpu_quota(Cgroups("2:cpuset:/a").add("cpuset/a/cpu.cfs_quota_us", "100000").paths()));
}

TEST_CASE("the tightest of both versions counts") {
  Cgroups hybrid("2:cpu:/a\n0::/a");
  hybrid.add("cpu/a/cpu.cfs_quota_us", "300000").add("cpu/a/cpu.cfs_period_us", "100000");
  hybrid.add("unified/a/cpu.max", "200000 100000");
  CHECK(cpu_quota(hybrid.paths()) == 2);
}

TEST_CASE("in a container the outer part of the path is not mounted, and the mount is the group") {
  CHECK(cpu_quota(Cgroups("0::/docker/abc").add("cpu.max", "100000 100000").paths()) == 1);
  CHECK(cpu_quota(Cgroups("0::/../../outer").add("cpu.max", "100000 100000").paths()) == 1);
}

TEST_CASE("what is hidden or makes no sense is no limit") {
  CHECK_FALSE(cpu_quota({.membership = "/nonexistent/cgroup", .root = "/nonexistent"}));
  for (const std::string text : {"", "max", "x y", "-5 100000", "100000 0", "0 100000", "nan 1"}) {
    INFO(text);
    CHECK_FALSE(cpu_quota(Cgroups("0::/a").add("a/cpu.max", text).paths()));
  }
  CHECK_FALSE(cpu_quota(Cgroups("no colons").add("cpu.max", "100000 100000").paths()));
}

TEST_CASE("usable cores: the mask, or the quota rounded up, and never less than one") {
  const int affine = affine_processors();
  CHECK(affine >= 1);
  CHECK(usable_cores(Cgroups("0::/a").add("a/cpu.max", "1000 100000").paths()) == 1);
  CHECK(usable_cores(Cgroups("0::/a").add("a/cpu.max", "110000 100000").paths()) == std::min(2, affine));
  CHECK(usable_cores(Cgroups("0::/a").add("a/cpu.max", "99900000 100000").paths()) == affine);
  CHECK(usable_cores({.membership = "/nonexistent/cgroup", .root = "/nonexistent"}) == affine);
  CHECK(usable_cores() >= 1);
}

TEST_CASE("a thread that is bound to one processor has one") {
  int seen = 0;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0) seen = affine_processors();
  }).join();
  CHECK(seen == 1);
}

}  // namespace hcomm
