#include "blas_threads.h"

#include <dlfcn.h>

#include <initializer_list>

namespace fashion {

// CBLAS has no call for it, and the environment is read when the library is loaded, before main: so the setters are looked up
// in whichever BLAS this process got.
void use_one_blas_thread() {
  for (const char* name : {"openblas_set_num_threads", "omp_set_num_threads"}) {
    if (void* const symbol = dlsym(RTLD_DEFAULT, name); symbol != nullptr) reinterpret_cast<void (*)(int)>(symbol)(1);
  }
}

}  // namespace fashion
