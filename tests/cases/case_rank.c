/* One rank of a job that `hcomm run` started, for the tests that drive jobs from outside. Uses the public API alone.
 *
 *   case_rank sum BYTES ROUNDS TAG   checked allreduces; TAG is part of each contribution
 *   case_rank loop SECONDS           the same until rank 0's time is up; says its pid first
 *   case_rank late MILLISECONDS      rank 1 comes so much later to the second allreduce
 *   case_rank many COMMS ROUNDS      several communicators of the job, used in changing order
 *   case_rank cycles COUNT           communicators one after the other, with one sum in each
 *   case_rank leave exit|atexit|shut how a process may end
 *   case_rank fail CODE              rank 1 is large and exits with CODE while the others are in a collective
 *   case_rank json                   one line of JSON on standard output
 *
 * Says "right" at the end. Exit code 3 and the library's text after an error, 4 after a wrong value. */
#define _GNU_SOURCE /* POSIX functions, under the strict C standard */
#include <hcomm/hcomm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kMostComms = 8, kCodes = 100000 };

static hcommComm_t comms[kMostComms];
static int rank, size;

static void check(hcommResult_t result, const char* what) {
  if (result == hcommSuccess) return;
  fprintf(stderr, "rank %d pid %d: %s: %s\n", rank, (int)getpid(), what, hcommGetLastError(NULL));
  exit(3);
}

static void join(int count) {
  for (int which = 0; which < count; ++which) check(hcommCommInitEnv(&comms[which]), "init");
  check(hcommCommUserRank(comms[0], &rank), "rank");
  check(hcommCommCount(comms[0], &size), "count");
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void pause_ms(long milliseconds) {
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&time, NULL);
}

/* Every rank contributes code + rank to each element. */
static void sum(hcommComm_t comm, size_t count, int64_t code) {
  int64_t* const send = calloc(count + 1, sizeof *send);
  int64_t* const recv = calloc(count + 1, sizeof *recv);
  for (size_t i = 0; i < count; ++i) send[i] = code + rank, recv[i] = -1;
  check(hcommAllReduce(send, recv, count, hcommInt64, hcommSum, comm, NULL), "allreduce");
  const int64_t expected = size * code + (int64_t)size * (size - 1) / 2;
  for (size_t i = 0; i < count; ++i) {
    if (recv[i] == expected) continue;
    fprintf(stderr, "rank %d: element %zu is %lld, not %lld\n", rank, i, (long long)recv[i], (long long)expected);
    exit(4);
  }
  free(send);
  free(recv);
}

static void loop(double seconds) {
  printf("rank %d pid %d\n", rank, (int)getpid());
  fflush(stdout);
  const double end = now() + seconds;
  int32_t done = 0;
  for (int64_t round = 0; !done; ++round) {
    sum(comms[0], 30000, round % kCodes);
    const int32_t own = rank == 0 && now() >= end;
    check(hcommAllReduce(&own, &done, 1, hcommInt32, hcommMax, comms[0], NULL), "allreduce of the end");
  }
}

static void late(long milliseconds) {
  sum(comms[0], 10, 1);
  if (rank == 1) pause_ms(milliseconds);
  sum(comms[0], 10, 2);
}

static void many(int count, int rounds) {
  uint32_t draw = 1; /* the same on every rank */
  for (int round = 0; round < rounds; ++round) {
    draw = draw * 1664525u + 1013904223u;
    const uint32_t which = (draw >> 16) % (uint32_t)count;
    sum(comms[which], 1 + (draw >> 8) % 300, (int64_t)which * kCodes + round);
  }
  for (int i = 0; i < count; ++i) { /* in another order on each rank */
    check(hcommCommDestroy(comms[(i + rank) % count]), "destroy");
    comms[(i + rank) % count] = NULL;
  }
}

static void cycles(int count) {
  for (int turn = 1;; ++turn) {
    sum(comms[0], 1000, turn);
    if (turn >= count) return;
    check(hcommCommDestroy(comms[0]), "destroy");
    comms[0] = NULL;
    join(1);
  }
}

static void destroy_all(void) {
  for (int which = 0; which < kMostComms; ++which) hcommCommDestroy(comms[which]);
}

/* Ends the process. */
static void leave(const char* how) {
  sum(comms[0], 100, 1);
  if (strcmp(how, "atexit") == 0) atexit(destroy_all);
  if (strcmp(how, "shut") == 0) destroy_all();
  printf("right\n");
  exit(0);
}

/* So large that its peers see its death well before it has ended. */
static void fail(int code) {
  enum { kBytes = 256 << 20 };
  sum(comms[0], 100, 1);
  if (rank == 1) {
    volatile char* const memory = malloc(kBytes);
    for (int at = 0; memory != NULL && at < kBytes; at += 4096) memory[at] = 1;
    _exit(code);
  }
  for (;;) sum(comms[0], 100, 1);
}

static long number(char** arguments, int at, int count) { return at < count ? atol(arguments[at]) : 0; }

int main(int count, char** arguments) {
  const char* const what = count > 1 ? arguments[1] : "";
  const int wanted = strcmp(what, "many") == 0 ? (int)number(arguments, 2, count) : 1;
  if (wanted < 1 || wanted > kMostComms) return 2;
  join(wanted);
  const long first = number(arguments, 2, count);
  if (strcmp(what, "sum") == 0) {
    for (long round = 0; round < number(arguments, 3, count); ++round) {
      sum(comms[0], (size_t)first / sizeof(int64_t), 1000 * number(arguments, 4, count) + round % 7);
    }
  } else if (strcmp(what, "loop") == 0) {
    loop((double)first);
  } else if (strcmp(what, "late") == 0) {
    late(first);
  } else if (strcmp(what, "many") == 0) {
    many(wanted, (int)number(arguments, 3, count));
  } else if (strcmp(what, "cycles") == 0) {
    cycles((int)first);
  } else if (strcmp(what, "leave") == 0 && count > 2) {
    leave(arguments[2]);
  } else if (strcmp(what, "fail") == 0) {
    fail((int)first);
  } else if (strcmp(what, "json") == 0) {
    sum(comms[0], 10, 1);
    destroy_all();
    return printf("{\"rank\": %d}\n", rank) < 0;
  } else {
    return 2;
  }
  destroy_all();
  printf("right\n");
  return 0;
}
