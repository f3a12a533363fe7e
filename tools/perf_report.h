// How the results of `hcomm perf` look: the table of nccl-tests, the layouts of --mode, CSV, and one JSON object.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "perf_cost.h"
#include "perf_measure.h"

namespace hcomm {

struct PerfRow {
  PerfCase what;
  PerfResult out_of_place;
  std::optional<PerfResult> in_place;  // none for barrier, and but in the table
};

// Prints as rows come. Only rank 0 has one.
class PerfReport {
 public:
  PerfReport(const PerfOptions& options, int ranks, const PerfCosts& costs)
      : options_(options), ranks_(ranks), costs_(costs) {}

  void begin() const;
  void begin_collective(const PerfCase& first) const;
  void add(PerfRow row);
  void end() const;

  std::uint64_t wrong() const { return wrong_; }
  Status write_json(const std::vector<PairTraffic>& traffic) const;  // to options.json_path

 private:
  void print_csv(const PerfCase& what, const PerfResult& result) const;
  double average_busbw() const;

  const PerfOptions& options_;
  const int ranks_;
  const PerfCosts costs_;
  std::vector<PerfRow> rows_;
  std::uint64_t wrong_ = 0;
};

// Whether a file can be written there; makes it if need be. The failure names the path and the reason.
Status check_writable(const std::string& path);

}  // namespace hcomm
