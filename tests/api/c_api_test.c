/* The C API from C: only the public header, only the shared library. One thread drives all ranks, in groups. */
#include <hcomm/hcomm.h>
#include <stdio.h>
#include <string.h>

#include "c_api_rig.h"

/* The op over all ranks' send[i]; every number is a small integer, so exact in any order of evaluation. */
static float reduced(hcommRedOp_t op, int i) {
  float sum = 0, product = 1;
  for (int rank = 0; rank < ranks.size; ++rank) {
    sum += (float)(rank + i);
    product *= (float)(rank + i);
  }
  if (op == hcommProd) return product;
  if (op == hcommAvg) return sum / (float)ranks.size;
  if (op == hcommMax) return (float)(ranks.size - 1 + i);
  return op == hcommMin ? (float)i : sum;
}

static void check_all_reduce(hcommRedOp_t op, int count, int in_place) {
  fill();
  expect_result(hcommGroupStart(), hcommSuccess, "group start");
  for (int rank = 0; rank < ranks.size; ++rank) {
    float* const target = in_place ? ranks.send[rank] : ranks.recv[rank];
    expect_result(hcommAllReduce(ranks.send[rank], target, (size_t)count, hcommFloat32, op, ranks.comms[rank], NULL),
                  hcommSuccess, "recording an allreduce");
  }
  expect_result(hcommGroupEnd(), hcommSuccess, "a group of allreduces");
  int wrong = 0;
  for (int rank = 0; rank < ranks.size; ++rank) {
    const float* const target = in_place ? ranks.send[rank] : ranks.recv[rank];
    for (int i = 0; i < count; ++i) wrong += target[i] != reduced(op, i);
    wrong += !in_place && target[count] != -7.0f;
  }
  expect(wrong == 0, "allreduce is right, and writes nothing behind the end");
}

static void check_values(void) {
  static const hcommRedOp_t ops[] = {hcommSum, hcommAvg, hcommMax, hcommMin};
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; ++i) {
    check_all_reduce(ops[i], kCount, 0);
    check_all_reduce(ops[i], kCount, 1);
  }
  check_all_reduce(hcommSum, 1, 0);
  check_all_reduce(hcommProd, 7, 0); /* so few, and so small, that they are exact */
}

static void check_broadcast(void) {
  for (int root = 0; root < ranks.size; ++root) {
    fill();
    hcommGroupStart();
    for (int rank = 0; rank < ranks.size; ++rank) {
      const void* const send = rank == root ? ranks.send[rank] : NULL; /* read on the root alone */
      hcommBroadcast(send, ranks.recv[rank], kCount, hcommFloat32, root, ranks.comms[rank], NULL);
    }
    expect_result(hcommGroupEnd(), hcommSuccess, "a group of broadcasts");
    int wrong = 0;
    for (int rank = 0; rank < ranks.size; ++rank) {
      for (int i = 0; i < kCount; ++i) wrong += ranks.recv[rank][i] != (float)(root + i);
    }
    expect(wrong == 0, "broadcast is right");
  }
}

/* The root alone has a result; elsewhere recv may be NULL, and is left alone if it is not. */
static void check_reduce(void) {
  for (int root = 0; root < ranks.size; ++root) {
    fill();
    for (int rank = 0; rank < ranks.size; ++rank) {
      for (int i = 0; i < kCount; ++i) ranks.recv[rank][i] = -1;
    }
    hcommGroupStart();
    for (int rank = 0; rank < ranks.size; ++rank) {
      float* const recv = rank == root || rank % 2 == 0 ? ranks.recv[rank] : NULL;
      hcommReduce(ranks.send[rank], recv, kCount, hcommFloat32, hcommMax, root, ranks.comms[rank], NULL);
    }
    expect_result(hcommGroupEnd(), hcommSuccess, "a group of reduces");
    int wrong = 0;
    for (int rank = 0; rank < ranks.size; ++rank) {
      for (int i = 0; i < kCount; ++i) wrong += ranks.recv[rank][i] != (rank == root ? (float)(ranks.size - 1 + i) : -1);
    }
    expect(wrong == 0, "reduce is right, on the root alone");
  }
}

static void check_reduce_scatter(void) {
  fill();
  hcommGroupStart();
  for (int rank = 0; rank < ranks.size; ++rank) {
    hcommReduceScatter(ranks.send[rank], ranks.recv[rank], kCount, hcommFloat32, hcommSum, ranks.comms[rank], NULL);
  }
  expect_result(hcommGroupEnd(), hcommSuccess, "a group of reduce-scatters");
  int wrong = 0;
  for (int rank = 0; rank < ranks.size; ++rank) {
    for (int i = 0; i < kCount; ++i) wrong += ranks.recv[rank][i] != reduced(hcommSum, rank * kCount + i);
  }
  expect(wrong == 0, "reduce-scatter is right");
}

static void check_all_gather(void) {
  fill();
  hcommGroupStart();
  for (int rank = 0; rank < ranks.size; ++rank) {
    hcommAllGather(ranks.send[rank], ranks.recv[rank], kCount, hcommFloat32, ranks.comms[rank], NULL);
  }
  hcommGroupStart(); /* groups nest, and take a barrier, too */
  for (int rank = 0; rank < ranks.size; ++rank) hcommBarrier(ranks.comms[rank], NULL);
  expect_result(hcommGroupEnd(), hcommSuccess, "an inner group");
  expect_result(hcommGroupEnd(), hcommSuccess, "a group of allgathers and barriers");
  int wrong = 0;
  for (int rank = 0; rank < ranks.size; ++rank) {
    for (int i = 0; i < ranks.size * kCount; ++i) wrong += ranks.recv[rank][i] != (float)(i / kCount + i % kCount);
  }
  expect(wrong == 0, "allgather is right");
}

/* The root alone gathers and the root alone has something to scatter; the other buffer may be NULL elsewhere. */
static void check_gather_and_scatter(void) {
  for (int root = 0; root < ranks.size; ++root) {
    fill();
    hcommGroupStart();
    for (int rank = 0; rank < ranks.size; ++rank) {
      float* const recv = rank == root ? ranks.recv[rank] : NULL;
      hcommGather(ranks.send[rank], recv, kCount, hcommFloat32, root, ranks.comms[rank], NULL);
    }
    expect_result(hcommGroupEnd(), hcommSuccess, "a group of gathers");
    int wrong = 0;
    for (int i = 0; i < ranks.size * kCount; ++i) wrong += ranks.recv[root][i] != (float)(i / kCount + i % kCount);
    expect(wrong == 0, "gather is right");

    fill();
    hcommGroupStart();
    for (int rank = 0; rank < ranks.size; ++rank) {
      const float* const send = rank == root ? ranks.send[rank] : NULL;
      hcommScatter(send, ranks.recv[rank], kCount, hcommFloat32, root, ranks.comms[rank], NULL);
    }
    expect_result(hcommGroupEnd(), hcommSuccess, "a group of scatters");
    wrong = 0;
    for (int rank = 0; rank < ranks.size; ++rank) {
      for (int i = 0; i < kCount; ++i) wrong += ranks.recv[rank][i] != (float)(root + rank * kCount + i);
    }
    expect(wrong == 0, "scatter is right");
  }
}

/* Each rank's part for this one, from each; then the same in place. */
static void check_all_to_all(void) {
  for (int in_place = 0; in_place < 2; ++in_place) {
    fill();
    hcommGroupStart();
    for (int rank = 0; rank < ranks.size; ++rank) {
      float* const recv = in_place ? ranks.send[rank] : ranks.recv[rank];
      hcommAllToAll(ranks.send[rank], recv, kCount, hcommFloat32, ranks.comms[rank], NULL);
    }
    expect_result(hcommGroupEnd(), hcommSuccess, "a group of alltoalls");
    int wrong = 0;
    for (int rank = 0; rank < ranks.size; ++rank) {
      const float* const recv = in_place ? ranks.send[rank] : ranks.recv[rank];
      for (int i = 0; i < ranks.size * kCount; ++i) wrong += recv[i] != (float)(i / kCount + rank * kCount + i % kCount);
    }
    expect(wrong == 0, in_place ? "alltoall in place is right" : "alltoall is right");
  }
}

/* Nothing to do for anybody: NULL buffers are legal, in a group and outside. */
static void check_empty_calls(int grouped) {
  if (grouped) hcommGroupStart();
  for (int rank = 0; rank < ranks.size; ++rank) {
    const hcommComm_t comm = ranks.comms[rank];
    expect_result(hcommAllReduce(NULL, NULL, 0, hcommFloat32, hcommSum, comm, NULL), hcommSuccess, "empty allreduce");
    expect_result(hcommBroadcast(NULL, NULL, 0, hcommFloat32, 0, comm, NULL), hcommSuccess, "empty broadcast");
    expect_result(hcommReduce(NULL, NULL, 0, hcommFloat32, hcommSum, 0, comm, NULL), hcommSuccess, "empty reduce");
    expect_result(hcommReduceScatter(NULL, NULL, 0, hcommFloat32, hcommSum, comm, NULL), hcommSuccess, "empty reduce-scatter");
    expect_result(hcommAllGather(NULL, NULL, 0, hcommFloat32, comm, NULL), hcommSuccess, "empty allgather");
    expect_result(hcommGather(NULL, NULL, 0, hcommFloat32, 0, comm, NULL), hcommSuccess, "empty gather");
    expect_result(hcommScatter(NULL, NULL, 0, hcommFloat32, 0, comm, NULL), hcommSuccess, "empty scatter");
    expect_result(hcommAllToAll(NULL, NULL, 0, hcommFloat32, comm, NULL), hcommSuccess, "empty alltoall");
  }
  if (grouped) expect_result(hcommGroupEnd(), hcommSuccess, "a group of empty calls");
  check_all_reduce(hcommSum, 7, 0);
}

/* One bad argument at a time; each is refused at once, and the communicator stays usable. */
static void check_bad_arguments(hcommComm_t comm) {
  float* const send = ranks.send[0];
  float* const recv = ranks.recv[0];
  const size_t huge = (size_t)-1;
  const hcommDataType_t no_type = (hcommDataType_t)99;
  const hcommRedOp_t no_op = (hcommRedOp_t)77;
  const int n = ranks.size;

  expect_names(hcommAllReduce(send, recv, huge, hcommFloat32, hcommSum, comm, NULL), "count", "allreduce, count");
  expect_names(hcommAllReduce(send, recv, 8, no_type, hcommSum, comm, NULL), "dtype", "allreduce, dtype");
  expect_names(hcommAllReduce(send, recv, 8, hcommFloat32, no_op, comm, NULL), "op", "allreduce, op");
  expect_names(hcommAllReduce(send, recv, 8, hcommFloat32, hcommBand, comm, NULL), "op band", "allreduce, an op of other types");
  expect_names(hcommAllReduce(send, recv, 8, hcommFloat32, hcommLor, comm, NULL), "float32; legal", "allreduce, another");
  expect_names(hcommAllReduce(send, recv, 8, hcommFloat32, hcommSum, NULL, NULL), "comm", "allreduce, comm");
  expect_names(hcommAllReduce(NULL, recv, 8, hcommFloat32, hcommSum, comm, NULL), "send", "allreduce, send");
  expect_names(hcommAllReduce(send, NULL, 8, hcommFloat32, hcommSum, comm, NULL), "recv", "allreduce, recv");
  expect_names(hcommAllReduce(send, send + 4, 8, hcommFloat32, hcommSum, comm, NULL), "overlap", "allreduce, overlap");

  expect_names(hcommBroadcast(send, recv, huge, hcommFloat32, 0, comm, NULL), "count", "broadcast, count");
  expect_names(hcommBroadcast(send, recv, 8, no_type, 0, comm, NULL), "dtype", "broadcast, dtype");
  expect_names(hcommBroadcast(send, recv, 8, hcommFloat32, -1, comm, NULL), "root", "broadcast, root -1");
  expect_names(hcommBroadcast(send, recv, 8, hcommFloat32, n, comm, NULL), "root", "broadcast, root n");
  expect_names(hcommBroadcast(send, recv, 0, hcommFloat32, n, comm, NULL), "root", "empty broadcast, root n");
  expect_names(hcommBroadcast(send, recv, 8, hcommFloat32, 0, NULL, NULL), "comm", "broadcast, comm");

  expect_names(hcommReduce(send, recv, 8, hcommFloat32, hcommSum, n, comm, NULL), "root", "reduce, root");
  expect_names(hcommReduce(NULL, recv, 8, hcommFloat32, hcommSum, 0, comm, NULL), "send", "reduce, send");
  expect_names(hcommReduceScatter(send, recv, huge, hcommFloat32, hcommSum, comm, NULL), "count", "reduce-scatter, count");
  expect_names(hcommReduceScatter(send, recv, huge / 4 / (size_t)n + 1, hcommFloat32, hcommSum, comm, NULL), "count",
               "reduce-scatter, a count whose product with the size wraps");
  expect_names(hcommReduceScatter(send, recv, 8, no_type, hcommSum, comm, NULL), "dtype", "reduce-scatter, dtype");
  expect_names(hcommReduceScatter(send, recv, 8, hcommFloat32, no_op, comm, NULL), "op", "reduce-scatter, op");
  expect_names(hcommReduceScatter(send, recv, 8, hcommFloat32, hcommSum, NULL, NULL), "comm", "reduce-scatter, comm");

  expect_names(hcommAllGather(send, recv, huge, hcommFloat32, comm, NULL), "count", "allgather, count");
  expect_names(hcommAllGather(send, recv, 8, no_type, comm, NULL), "dtype", "allgather, dtype");
  expect_names(hcommAllGather(send, recv, 8, hcommFloat32, NULL, NULL), "comm", "allgather, comm");

  expect_names(hcommGather(send, recv, 8, hcommFloat32, n, comm, NULL), "root", "gather, root");
  expect_names(hcommGather(send, recv, huge / 4 / (size_t)n + 1, hcommFloat32, 0, comm, NULL), "count", "gather, count");
  expect_names(hcommGather(NULL, recv, 8, hcommFloat32, 0, comm, NULL), "send", "gather, send");
  expect_names(hcommGather(send, NULL, 8, hcommFloat32, 0, comm, NULL), "recv", "gather, recv on the root");
  expect_names(hcommScatter(send, recv, 8, no_type, 0, comm, NULL), "dtype", "scatter, dtype");
  expect_names(hcommScatter(NULL, recv, 8, hcommFloat32, 0, comm, NULL), "send", "scatter, send on the root");
  expect_names(hcommScatter(send, send + 4, 8, hcommFloat32, 0, comm, NULL), "overlap", "scatter, overlap");
  expect_names(hcommAllToAll(send, NULL, 8, hcommFloat32, comm, NULL), "recv", "alltoall, recv");
  expect_names(hcommAllToAll(send, send + 4, 8, hcommFloat32, comm, NULL), "overlap", "alltoall, overlap");
  expect_names(hcommAllToAll(send, recv, huge / 4 / (size_t)n + 1, hcommFloat32, comm, NULL), "count", "alltoall, count");

  expect_names(hcommBarrier(NULL, NULL), "comm", "barrier, comm");
  expect_names(hcommBarrier(comm, (hcommStream_t)send), "stream", "barrier, stream");
}

static void check_refused_group(void) {
  fill();
  hcommGroupStart();
  for (int rank = 0; rank < ranks.size; ++rank) {
    const hcommRedOp_t op = rank == ranks.size - 1 ? (hcommRedOp_t)77 : hcommSum;
    const hcommResult_t result = hcommAllReduce(ranks.send[rank], ranks.recv[rank], 8, hcommFloat32, op, ranks.comms[rank], NULL);
    expect_result(result, rank == ranks.size - 1 ? hcommInvalidArgument : hcommSuccess, "a call in a group is checked at once");
  }
  expect_names(hcommGroupEnd(), "op", "the end of a group returns its first error");
  int touched = 0;
  for (int rank = 0; rank < ranks.size; ++rank) touched += ranks.recv[rank][0] != -7.0f;
  expect(touched == 0, "a refused group issues nothing");
}

static void check_usage(void) {
  expect_result(hcommGroupEnd(), hcommInvalidUsage, "group end without start");
  fill();
  expect_result(hcommAllReduce(ranks.send[0], ranks.recv[0], 8, hcommFloat32, hcommSum, ranks.comms[0], NULL), hcommInvalidUsage,
                "one thread's blocking call on one of its ranks outside a group");
  expect(ranks.recv[0][0] == -7.0f, "a refused call changes nothing");
  expect(strstr(hcommGetLastError(NULL), "hcommGroupStart") != NULL, "and says what to do");

  hcommComm_t comm = (hcommComm_t)&ranks;
  hcommGroupStart();
  expect_result(hcommCommInitAll(&comm, 1), hcommInvalidUsage, "init inside a group");
  expect(comm == NULL, "init inside a group leaves NULL");
  expect_result(hcommGroupEnd(), hcommInvalidUsage, "a group with an init in it");
}

/* An out-handle is NULL after every failure. */
static void expect_no_rank(int size, hcommUniqueId id, int rank, const char* what) {
  hcommComm_t comm = (hcommComm_t)&ranks; /* anything but NULL */
  expect_result(hcommCommInitRank(&comm, size, id, rank), hcommInvalidArgument, what);
  expect(comm == NULL, what);
}

static void check_making(void) {
  hcommUniqueId id;
  expect_result(hcommGetUniqueId(&id), hcommSuccess, "unique id");
  expect_no_rank(0, id, 0, "size 0");
  expect_no_rank(-1, id, 0, "size -1");
  expect_no_rank(2, id, -1, "rank -1");
  expect_no_rank(2, id, 2, "rank n");
  hcommUniqueId no_id;
  memset(&no_id, 0, sizeof no_id);
  expect_no_rank(2, no_id, 0, "an id of zeros");
  memset(&no_id, 0xff, sizeof no_id);
  expect_no_rank(2, no_id, 0, "an id of ones");
  expect_names(hcommCommInitRank(NULL, 1, id, 0), "comm", "init rank, comm");

  hcommComm_t comm = NULL;
  expect_result(hcommCommInitRank(&comm, 1, id, 0), hcommSuccess, "one rank by its id, after the failures");
  expect(comm != NULL, "success gives a handle");
  float value = 3, sum = 0;
  expect_result(hcommAllReduce(&value, &sum, 1, hcommFloat32, hcommSum, comm, NULL), hcommSuccess, "allreduce of one rank");
  expect(sum == 3, "allreduce of one rank is the value");
  expect_result(hcommCommDestroy(comm), hcommSuccess, "destroy");
  expect_result(hcommCommDestroy(comm), hcommInvalidArgument, "destroy twice");
  expect_names(hcommBarrier(comm, NULL), "comm", "a call on a destroyed communicator");

  comm = (hcommComm_t)&ranks;
  expect(hcommCommInitEnv(&comm) != hcommSuccess, "init env without a launcher fails");
  expect(comm == NULL, "and leaves NULL");
  expect_names(hcommCommInitEnv(NULL), "comm", "init env, comm");

  hcommComm_t none[1] = {NULL};
  expect_names(hcommCommInitAll(NULL, 2), "comms", "init all, comms");
  expect_names(hcommCommInitAll(none, 0), "size", "init all of 0");
  expect_names(hcommCommInitAll(none, -1), "size", "init all of -1");
  expect_names(hcommGetUniqueId(NULL), "id", "unique id, id");
}

static void check_null_answers(hcommComm_t comm) {
  int number = 0;
  hcommResult_t result = hcommSuccess;
  expect_result(hcommCommDestroy(NULL), hcommSuccess, "destroy NULL");
  expect_names(hcommCommAbort(NULL), "comm", "abort NULL");
  expect_names(hcommCommCount(NULL, &number), "comm", "count of NULL");
  expect_names(hcommCommCount(comm, NULL), "count", "count into NULL");
  expect_names(hcommCommUserRank(NULL, &number), "comm", "rank of NULL");
  expect_names(hcommCommUserRank(comm, NULL), "rank", "rank into NULL");
  expect_names(hcommCommGetAsyncError(NULL, &result), "comm", "async error of NULL");
  expect_names(hcommCommGetAsyncError(comm, NULL), "result", "async error into NULL");
  expect_names(hcommGetVersion(NULL), "version", "version into NULL");
  expect_result(hcommGetVersion(&number), hcommSuccess, "version");
  expect(number == 100, "the version is 0.1.0");
}

static void check_texts(void) {
  static const hcommResult_t codes[] = {hcommSuccess,      hcommSystemError, hcommInternalError, hcommInvalidArgument,
                                        hcommInvalidUsage, hcommRemoteError, hcommInProgress,    hcommTimeout,
                                        hcommMismatch,     hcommAborted,     hcommOutOfMemory};
  const size_t count = sizeof codes / sizeof codes[0];
  const char* const unknown = hcommGetErrorString((hcommResult_t)12345);
  expect(unknown != NULL && unknown[0] != '\0', "an unknown code has a text");
  for (size_t i = 0; i < count; ++i) {
    const char* const text = hcommGetErrorString(codes[i]);
    expect(text != NULL && text[0] != '\0' && strcmp(text, unknown) != 0, "each code has a text of its own");
    for (size_t j = 0; j < i; ++j) expect(strcmp(text, hcommGetErrorString(codes[j])) != 0, "no two codes share a text");
  }
}

static void check_memory(void) {
  void* memory = &ranks;
  expect_result(hcommMemAlloc(&memory, 0), hcommSuccess, "allocate nothing");
  expect(memory == NULL, "nothing is NULL");
  expect_result(hcommMemAlloc(&memory, 10000), hcommSuccess, "allocate");
  int wrong = (uintptr_t)memory % 4096 != 0;
  for (int i = 0; i < 10000; ++i) wrong += ((char*)memory)[i] != 0;
  expect(wrong == 0, "memory is page aligned and zeroed");
  memset(memory, 1, 10000);
  expect_result(hcommMemFree(memory), hcommSuccess, "free");
  expect_result(hcommMemFree(NULL), hcommSuccess, "free NULL");
  expect(hcommMemFree(&failures) != hcommSuccess, "free what was never allocated");
  memory = &ranks;
  expect(hcommMemAlloc(&memory, (size_t)-1) != hcommSuccess, "allocate more than there can be");
  expect(memory == NULL, "and get NULL");
  expect_names(hcommMemAlloc(NULL, 8), "memory", "allocate into NULL");
}

static void check_abort(void) {
  make_ranks(2);
  expect_result(hcommCommAbort(ranks.comms[1]), hcommSuccess, "abort");
  expect_result(hcommCommAbort(ranks.comms[1]), hcommSuccess, "abort twice");
  for (int rank = 0; rank < 2; ++rank) {
    hcommResult_t state = hcommSuccess;
    hcommCommGetAsyncError(ranks.comms[rank], &state);
    expect(state == hcommAborted, "every rank is aborted");
    expect_result(hcommBarrier(ranks.comms[rank], NULL), hcommAborted, "a call after abort");
    expect(strcmp(hcommGetLastError(ranks.comms[rank]), "") != 0, "an aborted communicator says so");
    expect_result(hcommCommDestroy(ranks.comms[rank]), hcommSuccess, "destroy after abort");
  }
}

int main(void) {
  check_texts();
  check_memory();
  check_making();
  for (int size = 1; size <= kMaxRanks; ++size) {
    make_ranks(size);
    check_values();
    check_broadcast();
    check_reduce();
    check_reduce_scatter();
    check_all_gather();
    check_gather_and_scatter();
    check_all_to_all();
    check_empty_calls(0);
    check_empty_calls(1);
    check_bad_arguments(ranks.comms[0]);
    check_all_reduce(hcommSum, kCount, 0);
    check_refused_group();
    check_all_reduce(hcommSum, kCount, 0);
    if (size > 1) check_usage();
    check_all_reduce(hcommSum, kCount, 0);
    check_null_answers(ranks.comms[0]);
    destroy_ranks();
  }
  check_abort();
  if (failures != 0) fprintf(stderr, "%d failures\n", failures);
  return failures != 0;
}
