#include "c_api_rig.h"

#include <stdio.h>
#include <string.h>

int failures = 0;

void expect(int holds, const char* what) {
  if (holds) return;
  ++failures;
  fprintf(stderr, "FAILED: %s\n  last error: %s\n", what, hcommGetLastError(NULL));
}

void expect_result(hcommResult_t result, hcommResult_t wanted, const char* what) {
  if (result == wanted) return;
  ++failures;
  fprintf(stderr, "FAILED: %s: %s (%d), not %s (%d)\n  last error: %s\n", what, hcommGetErrorString(result), (int)result,
          hcommGetErrorString(wanted), (int)wanted, hcommGetLastError(NULL));
}

void expect_names(hcommResult_t result, const char* argument, const char* what) {
  expect_result(result, hcommInvalidArgument, what);
  if (strstr(hcommGetLastError(NULL), argument) != NULL) return;
  ++failures;
  fprintf(stderr, "FAILED: %s: the error does not name '%s': %s\n", what, argument, hcommGetLastError(NULL));
}

Ranks ranks; /* too large for a stack */

void make_ranks(int size) {
  ranks.size = size;
  expect_result(hcommCommInitAll(ranks.comms, size), hcommSuccess, "init all");
  for (int rank = 0; rank < size; ++rank) {
    int count = -1, own = -1;
    expect_result(hcommCommCount(ranks.comms[rank], &count), hcommSuccess, "count");
    expect_result(hcommCommUserRank(ranks.comms[rank], &own), hcommSuccess, "user rank");
    expect(count == size && own == rank, "comms[r] is rank r of size");
  }
}

void destroy_ranks(void) {
  for (int rank = 0; rank < ranks.size; ++rank) {
    hcommResult_t state = hcommInternalError;
    expect_result(hcommCommGetAsyncError(ranks.comms[rank], &state), hcommSuccess, "async error");
    expect(state == hcommSuccess, "the communicator is still well");
    expect(strcmp(hcommGetLastError(ranks.comms[rank]), "") == 0, "a well communicator has no last error");
    expect_result(hcommCommDestroy(ranks.comms[rank]), hcommSuccess, "destroy");
  }
}

void fill(void) {
  for (int rank = 0; rank < ranks.size; ++rank) {
    for (int i = 0; i < kMaxRanks * kCount; ++i) {
      ranks.send[rank][i] = (float)(rank + i);
      ranks.recv[rank][i] = -7.0f;
    }
  }
}
