/* deny SYSCALL EPERM|ENOSYS PROGRAM ARGS...: runs a program for which one system call is refused, as a sandbox would. Exit code
 * 77 if the kernel does not filter. */
#define _GNU_SOURCE /* POSIX functions, under the strict C standard */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
  const char* name;
  unsigned number;
} kCalls[] = {
    {"memfd_create", SYS_memfd_create},           {"pidfd_open", 434},
    {"process_vm_readv", SYS_process_vm_readv},   {"futex_waitv", 449},
    {"io_uring_setup", 425},                      {"mbind", SYS_mbind},
    {"set_mempolicy", SYS_set_mempolicy},         {"sched_setaffinity", SYS_sched_setaffinity},
    {"set_robust_list", SYS_set_robust_list},     {"sched_getaffinity", SYS_sched_getaffinity},
    {"madvise", SYS_madvise},                     {"getrandom", SYS_getrandom},
};

static int number_of(const char* name) {
  for (size_t i = 0; i < sizeof kCalls / sizeof kCalls[0]; ++i) {
    if (strcmp(kCalls[i].name, name) == 0) return (int)kCalls[i].number;
  }
  return -1;
}

int main(int count, char** arguments) {
  if (count < 4 || number_of(arguments[1]) < 0) return 2;
  const unsigned number = (unsigned)number_of(arguments[1]);
  const unsigned error = strcmp(arguments[2], "ENOSYS") == 0 ? ENOSYS : EPERM;
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof code / sizeof code[0], code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return 77;
  execvp(arguments[3], arguments + 3);
  perror(arguments[3]);
  return 127;
}
