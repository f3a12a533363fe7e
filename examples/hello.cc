// hello.c in C++: build/tools/hcomm run -n 4 -- build/examples/hello_cpp
#include <algorithm>
#include <cstdio>
#include <hcomm/hcomm.hpp>

int main() {
  try {
    hcomm::Communicator comm = hcomm::Communicator::from_env();
    hcomm::Buffer<float> in(1024), out(1024);  // any memory will do; this kind is fastest
    std::ranges::fill(in, static_cast<float>(comm.rank()));
    comm.all_reduce(in, out);
    std::printf("rank %d of %d: %g\n", comm.rank(), comm.size(), out[0]);
    return 0;
  } catch (const hcomm::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
