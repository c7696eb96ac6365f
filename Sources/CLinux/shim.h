// Linux system calls that the Glibc module leaves out. Functions that glibc declares only under _GNU_SOURCE, which a
// module cannot define, are declared here again.
#pragma once
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <link.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <spawn.h>
#include <sys/resource.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <unistd.h>

#define LINUX_P_PIDFD 3u
#define LINUX_MFD_CLOEXEC 1u
#define LINUX_MFD_ALLOW_SEALING 2u
#define LINUX_F_ADD_SEALS 1033
// F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_WRITE.
#define LINUX_F_SEAL_ALL 15
#define LINUX_O_PATH 010000000
#define LINUX_SPLICE_F_NONBLOCK 2u
#define LINUX_RLIMIT_LOCKS 10u
// FALLOC_FL_KEEP_SIZE and FALLOC_FL_PUNCH_HOLE.
#define LINUX_FALLOC_FREE 3
// FALLOC_FL_KEEP_SIZE.
#define LINUX_FALLOC_RESERVE 1
#define LINUX_PF_KTHREAD 0x00200000u
#define LINUX_PF_EXITING 0x00000004u

int fallocate(int file, int mode, off_t offset, off_t length);
int memfd_create(const char *name, unsigned int flags);
ssize_t splice(int from, off_t *from_offset, int to, off_t *to_offset, size_t length, unsigned int flags);
const char *strerrordesc_np(int error);
const char *sigabbrev_np(int signal);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
int clone(int (*function)(void *), void *stack, int flags, void *argument, ...);
#define LINUX_CLONE_PIDFD 0x1000

// The first parameter of waitid is an enumeration of glibc, to which Swift cannot convert P_PIDFD.
static inline int linux_wait_pidfd(int pidfd, siginfo_t *info, int options) {
  return waitid((idtype_t)LINUX_P_PIDFD, (id_t)pidfd, info, options);
}

// These members of siginfo_t are macros for members of unions.
static inline pid_t linux_siginfo_pid(const siginfo_t *info) { return info->si_pid; }
static inline int linux_siginfo_status(const siginfo_t *info) { return info->si_status; }

// prctl is variadic, which Swift cannot call.
static inline int linux_set_child_subreaper(int on) { return prctl(PR_SET_CHILD_SUBREAPER, (unsigned long)on, 0, 0, 0); }
static inline pid_t linux_thread(void) { return (pid_t)syscall(SYS_gettid); }
// The C library declares prlimit with an enumeration, and only with _GNU_SOURCE.
static inline int linux_get_locks_limit(pid_t pid, struct rlimit *limit) {
  return (int)syscall(SYS_prlimit64, pid, LINUX_RLIMIT_LOCKS, NULL, limit);
}
static inline int linux_has_no_new_privileges(void) { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); }

// The function statfs and its structure have the same name; Swift imports only one of them.
#define LINUX_FUSE_MAGIC 0x65735546
static inline long linux_file_system_type(const char *path) {
  struct statfs status;
  return statfs(path, &status) == 0 ? (long)status.f_type : -1;
}

// A program to execute in a session of its own, and all that its process gets from this one.
struct linux_command {
  const char *program;
  char *const *arguments;
  char *const *environment;
  const char *directory;
  // The descriptor of the file that becomes standard input.
  int input;
  // The FIFO that becomes standard output, open for reading and writing; NULL for standard error. Just before the program is
  // executed, it loses its sticky bit, as evidence that the program was.
  const char *output;
  // The descriptor that becomes standard error; -1 for this process's.
  int errors;
  // A file into which the process writes its number just before the program is executed; NULL for none.
  const char *evidence;
  // The limit of open descriptors; NULL for this process's.
  const struct rlimit *descriptors;
  // The limit RLIMIT_LOCKS, which the kernel has ignored since Linux 2.4.25, and whose soft part every descendant inherits.
  struct rlimit mark;
  // The signals that this process handles or ignores: a bit for each, that of signal 1 the lowest.
  unsigned long long handled;
  // errno of the step that failed; 0 if the program was executed.
  int failure;
  // Whether that step was to enter the directory.
  int has_bad_directory;
};

// Writes this process's number into a file. A file that cannot take it, on a full disk, is still evidence.
static int linux_leave_number(const char *path) {
  const int file = open(path, O_WRONLY | O_CREAT, 0600);
  if (file < 0) return 0;
  char text[24];
  char *digit = text + sizeof(text);
  *--digit = '\n';
  for (long number = getpid(); number > 0; number /= 10) *--digit = (char)('0' + number % 10);
  const ssize_t written = write(file, digit, (size_t)(text + sizeof(text) - digit));
  (void)written;
  return 1;
}

// Runs in the child, which shares the memory of its parent until it executes the program. All signals are blocked.
static int linux_execute(void *argument) {
  struct linux_command *const command = argument;
  const struct sigaction standard = {.sa_handler = SIG_DFL};
  // A handler would run in the memory of the parent. Fails for two signals of the C library.
  for (int number = 1; number < NSIG; number++) {
    if (command->handled >> (number - 1) & 1) sigaction(number, &standard, NULL);
  }
  setrlimit(RLIMIT_LOCKS, &command->mark);
  int isReady = setsid() >= 0;
  if (isReady && chdir(command->directory) != 0) {
    isReady = 0;
    command->has_bad_directory = 1;
  }
  if (isReady) isReady = (command->input == 0 ? fcntl(0, F_SETFD, 0) : dup2(command->input, 0)) >= 0;
  if (isReady && command->errors >= 0) isReady = dup2(command->errors, 2) >= 0;
  if (isReady && command->output) {
    const int output = open(command->output, O_RDWR);
    isReady = output >= 0 && dup2(output, 1) >= 0;
  } else if (isReady) {
    isReady = dup2(2, 1) >= 0;
  }
  if (isReady && command->output) isReady = fchmod(1, S_IRUSR | S_IWUSR) == 0;
  if (isReady && command->evidence) isReady = linux_leave_number(command->evidence);
  if (isReady) isReady = syscall(SYS_close_range, 3u, ~0u, 0u) == 0;
  // Last, since every number below the limit may be taken by a descriptor of the parent.
  if (isReady && command->descriptors) isReady = setrlimit(RLIMIT_NOFILE, command->descriptors) == 0;
  if (isReady) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(command->program, command->arguments, command->environment);
  }
  command->failure = errno;
  _exit(127);
}

// Starts a child, and returns when it has executed its program; -1 if it could not, for the reason in `failure`. Unlike
// posix_spawn, it can set limits in the child alone: this process has other children, or other threads that start some.
// `pidfd` becomes the child's, which the caller closes.
static __attribute__((noinline, unused)) pid_t linux_start(struct linux_command *command, int *pidfd) {
  char stack[1 << 15] __attribute__((aligned(16)));
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  command->failure = 0;
  *pidfd = -1;
  pid_t pid = clone(
      linux_execute, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | LINUX_CLONE_PIDFD | SIGCHLD, command, pidfd);
  if (pid < 0) command->failure = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (command->failure == 0) return pid;
  if (pid > 0) waitpid(pid, NULL, 0);
  if (*pidfd >= 0) close(*pidfd);
  return -1;
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
