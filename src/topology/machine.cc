#include "topology/machine.h"

#include <hwloc.h>

#include <algorithm>
#include <memory>

namespace hcomm {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;

// At least one: a virtual machine may not tell, but there is one.
int count(const Topology& topology, hwloc_obj_type_t type) {
  return std::max(hwloc_get_nbobjs_by_type(topology.get(), type), 1);
}

}  // namespace

Result<Machine> read_machine(const std::string& synthetic) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return Status::failure(hcommSystemError, "hwloc could not begin");
  const Topology topology(raw);
  if (!synthetic.empty() && hwloc_topology_set_synthetic(raw, synthetic.c_str()) != 0) {
    return Status::failure(hcommInvalidArgument, "hwloc does not understand the synthetic machine \"" + synthetic +
                                                     "\"; one that it does is \"pack:2 numa:2 core:4 pu:1\"");
  }
  if (hwloc_topology_load(raw) != 0) return Status::failure(hcommSystemError, "hwloc could not read the machine");
  return Machine{.packages = count(topology, HWLOC_OBJ_PACKAGE),
                 .numa_nodes = count(topology, HWLOC_OBJ_NUMANODE),
                 .cores = count(topology, HWLOC_OBJ_CORE),
                 .processors = count(topology, HWLOC_OBJ_PU)};
}

}  // namespace hcomm
