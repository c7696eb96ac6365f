// Linux system calls that the Glibc module leaves out. Functions that glibc declares only under _GNU_SOURCE, which a
// module cannot define, are declared here again.
#pragma once
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <link.h>
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#define LINUX_P_PIDFD 3u
#define LINUX_MFD_CLOEXEC 1u
#define LINUX_O_PATH 010000000
#define LINUX_SPLICE_F_NONBLOCK 2u
#define LINUX_POSIX_SPAWN_SETSID 0x80
#define LINUX_PF_KTHREAD 0x00200000u

int memfd_create(const char *name, unsigned int flags);
ssize_t splice(int from, off_t *from_offset, int to, off_t *to_offset, size_t length, unsigned int flags);
const char *strerrordesc_np(int error);
const char *sigabbrev_np(int signal);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
int posix_spawn_file_actions_addfchdir_np(posix_spawn_file_actions_t *actions, int directory);

// The first parameter of waitid is an enumeration of glibc, to which Swift cannot convert P_PIDFD.
static inline int linux_wait_pidfd(int pidfd, siginfo_t *info, int options) {
  return waitid((idtype_t)LINUX_P_PIDFD, (id_t)pidfd, info, options);
}

// These members of siginfo_t are macros for members of unions.
static inline pid_t linux_siginfo_pid(const siginfo_t *info) { return info->si_pid; }
static inline int linux_siginfo_status(const siginfo_t *info) { return info->si_status; }

// prctl is variadic, which Swift cannot call.
static inline int linux_set_child_subreaper(int on) { return prctl(PR_SET_CHILD_SUBREAPER, (unsigned long)on, 0, 0, 0); }
static inline int linux_has_no_new_privileges(void) { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); }

// The function statfs and its structure have the same name; Swift imports only one of them.
#define LINUX_TMPFS_MAGIC 0x01021994
#define LINUX_FUSE_MAGIC 0x65735546
static inline long linux_file_system_type(const char *path) {
  struct statfs status;
  return statfs(path, &status) == 0 ? (long)status.f_type : -1;
}

// A mutable global, which Swift 6 does not allow to be read; navd never changes it.
extern char **environ;
static inline char *const *linux_environment(void) { return environ; }

// Removes the read-only pages of the program's file from the process's memory; pages that are used again are read from
// the page cache. The linker defines __ehdr_start as the address of the file in memory.
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
static inline void linux_release_program(void) {
  const ElfW(Ehdr) *file = (const ElfW(Ehdr) *)__ehdr_start;
  const ElfW(Phdr) *segments = (const ElfW(Phdr) *)(__ehdr_start + file->e_phoff);
  const size_t start = file->e_type == ET_DYN ? (size_t)__ehdr_start : 0;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (int index = 0; index < file->e_phnum; index++) {
    if (segments[index].p_type != PT_LOAD || (segments[index].p_flags & PF_W)) continue;
    const size_t from = (start + segments[index].p_vaddr) & ~(page - 1);
    madvise((void *)from, start + segments[index].p_vaddr + segments[index].p_memsz - from, MADV_DONTNEED);
  }
}
