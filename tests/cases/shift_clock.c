/* To be preloaded: one second after it was loaded, the wall clock of the process jumps by SHIFT_SECONDS. The monotonic
 * clock goes on. */
#define _GNU_SOURCE /* POSIX functions, under the strict C standard */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long start;

static long monotonic_seconds(void) {
  struct timespec time;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
  return time.tv_sec;
}

__attribute__((constructor)) static void remember_start(void) { start = monotonic_seconds(); }

static long shift(void) {
  const char* const wanted = getenv("SHIFT_SECONDS");
  return wanted != NULL && monotonic_seconds() > start ? atol(wanted) : 0;
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  const long result = syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += shift();
  return (int)result;
}

int gettimeofday(struct timeval* restrict time, void* restrict zone) {
  const long result = syscall(SYS_gettimeofday, time, zone);
  if (result == 0) time->tv_sec += shift();
  return (int)result;
}

time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != NULL) *out = now.tv_sec;
  return now.tv_sec;
}
