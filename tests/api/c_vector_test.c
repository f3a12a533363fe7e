/* The V variants of the C API, of ranks that one thread drives in groups; and communicators made from communicators. */
#include <stdio.h>

#include "c_api_rig.h"

enum { kRanks = 3 };

/* Rank r has (r + 1) * 10 elements, with a gap of 5 before each part. */
static const size_t kLengths[kRanks] = {10, 20, 30};
static const size_t kOffsets[kRanks] = {5, 20, 45};

static int wrong_parts(const float* recv) {
  int wrong = 0;
  for (int from = 0; from < kRanks; ++from) {
    for (size_t i = 0; i < kLengths[from]; ++i) wrong += recv[kOffsets[from] + i] != (float)from + (float)i;
    wrong += recv[kOffsets[from] - 1] != ranks.recv[0][kRanks * kCount - 1]; /* as it was filled */
  }
  return wrong;
}

static void check_gathers(void) {
  fill();
  hcommGroupStart();
  for (int rank = 0; rank < kRanks; ++rank) {
    hcommAllGatherV(ranks.send[rank], kLengths[rank], ranks.recv[rank], kLengths, kOffsets, hcommFloat32, ranks.comms[rank],
                    NULL);
  }
  expect_result(hcommGroupEnd(), hcommSuccess, "a group of allgathers of unequal parts");
  for (int rank = 0; rank < kRanks; ++rank) expect(wrong_parts(ranks.recv[rank]) == 0, "hcommAllGatherV is right");
  fill();
  hcommGroupStart();
  for (int rank = 0; rank < kRanks; ++rank) {
    const int is_root = rank == 1;
    hcommGatherV(ranks.send[rank], kLengths[rank], is_root ? ranks.recv[rank] : NULL, is_root ? kLengths : NULL,
                 is_root ? kOffsets : NULL, hcommFloat32, 1, ranks.comms[rank], NULL);
  }
  expect_result(hcommGroupEnd(), hcommSuccess, "a group of gathers of unequal parts");
  expect(wrong_parts(ranks.recv[1]) == 0, "hcommGatherV is right");
}

static void check_scatters(void) {
  fill();
  hcommGroupStart();
  for (int rank = 0; rank < kRanks; ++rank) {
    const int is_root = rank == 2;
    hcommScatterV(is_root ? ranks.send[rank] : NULL, is_root ? kLengths : NULL, is_root ? kOffsets : NULL, ranks.recv[rank],
                  kLengths[rank], hcommFloat32, 2, ranks.comms[rank], NULL);
  }
  expect_result(hcommGroupEnd(), hcommSuccess, "a group of scatters of unequal parts");
  int wrong = 0;
  for (int rank = 0; rank < kRanks; ++rank) {
    for (size_t i = 0; i < kLengths[rank]; ++i) wrong += ranks.recv[rank][i] != (float)(2 + kOffsets[rank] + i);
  }
  expect(wrong == 0, "hcommScatterV is right");
  fill();
  hcommGroupStart();
  for (int rank = 0; rank < kRanks; ++rank) {
    hcommReduceScatterV(ranks.send[rank], ranks.recv[rank], kLengths, hcommFloat32, hcommSum, ranks.comms[rank], NULL);
  }
  expect_result(hcommGroupEnd(), hcommSuccess, "a group of reduce-scatters of unequal parts");
  wrong = 0;
  size_t start = 0;
  for (int rank = 0; rank < kRanks; ++rank) {
    for (size_t i = 0; i < kLengths[rank]; ++i) wrong += ranks.recv[rank][i] != (float)(0 + 1 + 2 + kRanks * (start + i));
    start += kLengths[rank];
  }
  expect(wrong == 0, "hcommReduceScatterV is right");
}

/* Rank r has r * 3 + t elements for rank t, one part after the other. */
static void check_exchange(void) {
  size_t sent[kRanks][kRanks], received[kRanks][kRanks];
  for (size_t from = 0; from < kRanks; ++from) {
    for (size_t to = 0; to < kRanks; ++to) sent[from][to] = received[to][from] = from * 3 + to;
  }
  fill();
  hcommGroupStart();
  for (int rank = 0; rank < kRanks; ++rank) {
    hcommAllToAllV(ranks.send[rank], sent[rank], NULL, ranks.recv[rank], received[rank], NULL, hcommFloat32, ranks.comms[rank],
                   NULL);
  }
  expect_result(hcommGroupEnd(), hcommSuccess, "a group of alltoalls of unequal parts");
  int wrong = 0;
  for (size_t rank = 0; rank < kRanks; ++rank) {
    const float* part = ranks.recv[rank];
    for (size_t from = 0; from < kRanks; ++from) {
      size_t start = 0;
      for (size_t to = 0; to < rank; ++to) start += sent[from][to];
      for (size_t i = 0; i < sent[from][rank]; ++i) wrong += *part++ != (float)(from + start + i);
    }
  }
  expect(wrong == 0, "hcommAllToAllV is right");
}

static void check_arguments(void) {
  float send[64] = {0}, recv[64];
  const hcommComm_t comm = ranks.comms[0];
  expect_names(hcommAllGatherV(send, 10, recv, NULL, NULL, hcommFloat32, comm, NULL), "recv_counts", "allgather_v, counts");
  expect_names(hcommAllGatherV(send, 11, recv, kLengths, NULL, hcommFloat32, comm, NULL), "for itself", "allgather_v, own part");
  expect_names(hcommScatterV(send, NULL, NULL, recv, 1, hcommFloat32, 0, comm, NULL), "send_counts", "scatter_v, counts");
  expect_names(hcommAllToAllV(send, kLengths, NULL, recv, NULL, NULL, hcommFloat32, comm, NULL), "recv_counts", "alltoall_v");
  expect_names(hcommGatherV(send, 10, recv, kLengths, NULL, hcommFloat32, 3, comm, NULL), "root 3", "gather_v, root");
  hcommGroupStart();
  expect_names(hcommReduceScatterV(send, recv, NULL, hcommFloat32, hcommSum, comm, NULL), "recv_counts", "reduce_scatter_v");
  expect_names(hcommGroupEnd(), "none of its calls was issued", "the group of a refused call");
}

static void check_splits(void) {
  hcommComm_t alone, child = (hcommComm_t)&child;
  expect_result(hcommCommInitAll(&alone, 1), hcommSuccess, "a rank alone");
  expect_result(hcommCommSplit(alone, HCOMM_SPLIT_NOCOLOR, 0, &child), hcommSuccess, "no color");
  expect(child == NULL, "no color gives no communicator");
  expect_names(hcommCommSplit(alone, -5, 0, &child), "color -5", "a color that is none");
  expect_names(hcommCommSplit(alone, 0, 0, NULL), "NULL", "no place for the answer");
  expect_names(hcommCommDup(NULL, &child), "comm is NULL", "no communicator");
  hcommGroupStart();
  expect_result(hcommCommDup(alone, &child), hcommInvalidUsage, "a split in a group");
  expect_result(hcommGroupEnd(), hcommInvalidUsage, "the group that has it");
  expect_result(hcommCommDup(alone, &child), hcommSuccess, "a duplicate");
  expect_result(hcommCommDestroy(alone), hcommSuccess, "the parent ends first");
  int size = 0;
  hcommCommCount(child, &size);
  expect(size == 1, "the duplicate has as many ranks");
  float in = 4, out = 0;
  expect_result(hcommAllReduce(&in, &out, 1, hcommFloat32, hcommSum, child, NULL), hcommSuccess, "the duplicate works");
  expect(out == 4, "and is right");
  expect_result(hcommCommDestroy(child), hcommSuccess, "the duplicate ends");
}

int main(void) {
  make_ranks(kRanks);
  check_gathers();
  check_scatters();
  check_exchange();
  check_arguments();
  check_gathers();
  destroy_ranks();
  check_splits();
  if (failures != 0) fprintf(stderr, "%d failures\n", failures);
  return failures != 0;
}
