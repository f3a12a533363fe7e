// Ranks are the parallelism of this program: each computes with one thread.
#pragma once

namespace fashion {

// Before the first matrix product. Knows OpenBLAS and OpenMP; of another BLAS nothing is known, and nothing done.
void use_one_blas_thread();

}  // namespace fashion
