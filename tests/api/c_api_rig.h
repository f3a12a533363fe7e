/* What the tests of the C API share: expectations, and some ranks that one thread drives. */
#ifndef HCOMM_TESTS_C_API_RIG_H
#define HCOMM_TESTS_C_API_RIG_H

#include <hcomm/hcomm.h>

enum { kMaxRanks = 3, kCount = 1000 };

typedef struct {
  int size;
  hcommComm_t comms[kMaxRanks];
  float send[kMaxRanks][kMaxRanks * kCount];
  float recv[kMaxRanks][kMaxRanks * kCount];
} Ranks;

extern Ranks ranks;
extern int failures;

void expect(int holds, const char* what);
void expect_result(hcommResult_t result, hcommResult_t wanted, const char* what);

/* An error that must say which argument is meant. */
void expect_names(hcommResult_t result, const char* argument, const char* what);

void make_ranks(int size);
void destroy_ranks(void);

/* send[r][i] = r + i; recv is filled with something else. */
void fill(void);

#endif
