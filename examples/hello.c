#include <hcomm/hcomm.h>
#include <stdio.h>

int main(void) {                                   /* build/tools/hcomm run -n 4 -- ./a.out, or mpirun, srun, torchrun */
  hcommComm_t comm;
  int rank, size;
  if (hcommCommInitEnv(&comm) != hcommSuccess) return fprintf(stderr, "%s\n", hcommGetLastError(NULL)), 1;
  hcommCommUserRank(comm, &rank);
  hcommCommCount(comm, &size);
  float* in; float* out;                           /* any memory will do; this kind is fastest */
  hcommMemAlloc((void**)&in, 1024 * sizeof *in);
  hcommMemAlloc((void**)&out, 1024 * sizeof *out);
  for (int i = 0; i < 1024; ++i) in[i] = (float)rank;
  hcommResult_t result = hcommAllReduce(in, out, 1024, hcommFloat32, hcommSum, comm, NULL);
  printf("rank %d of %d: %s, %g\n", rank, size, hcommGetErrorString(result), out[0]);
  hcommMemFree(in);
  hcommMemFree(out);
  return hcommCommDestroy(comm) != hcommSuccess;
}
