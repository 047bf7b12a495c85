/*
 * Loaded before all libraries into a JVM with the agent: one call of the agent's fails, as the test says in the file that FAULT names.
 * What the JVM, the C library and others call is left alone. On x86-64 each function takes what any of them takes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Those that answer -1 and set errno; those that answer the error; the one that answers no pointer. */
#define MINUS_ONE(X) X(clone) X(connect) X(dup2) X(dup3) X(fallocate) X(fchmod) X(fcntl) X(fork) X(fstat64) X(fsync) \
    X(ftruncate) X(ftruncate64) X(getpeername) X(getpriority) X(getrandom) X(getrlimit) X(getrusage) X(getsockname) X(getsockopt) X(ioctl) \
    X(linkat) X(lseek64) X(lstat64) X(madvise) X(mmap) X(mmap64) X(mprotect) X(mremap) X(munmap) X(open) X(open64) X(pipe2) X(poll) \
    X(prctl) X(pread) X(pread64) X(prlimit) X(process_vm_readv) X(pwrite) X(pwrite64) X(read) X(readlink) X(readv) X(recv) X(rename) \
    X(sched_getaffinity) X(send) X(setpriority) X(setsockopt) X(shutdown) X(sigaction) X(sigaltstack) X(signal) X(socket) X(socketpair) \
    X(stat64) X(syscall) X(statx) X(timer_create) X(timer_delete) X(timer_settime) X(unlink) X(waitid) X(waitpid) X(write) X(writev)
#define ANSWERED(X) X(clock_nanosleep) X(getaddrinfo) X(posix_spawn) X(pthread_create) X(pthread_getattr_np) X(pthread_getcpuclockid) \
    X(pthread_setname_np)
#define POINTER(X) X(dlopen) X(getcwd) X(opendir) X(readdir64) X(realpath)
#define ALL(X) MINUS_ONE(X) ANSWERED(X) POINTER(X)

#define NUMBER(name) NUMBER_##name,
enum { ALL(NUMBER) FUNCTIONS };
#define NAME(name) #name,
static const char *const names[] = {ALL(NAME)};

#define NAME_BYTES 24

/* The test writes what is to fail: in the JVM (0) or in the copy (1), which function, the how many-th call, with which error. */
struct plan {
    uint32_t in_copy, function, call, error, failed, functions;
    char names[FUNCTIONS][NAME_BYTES];
    uint32_t calls[2][FUNCTIONS];
};

static struct plan *plan;
static long jvm;
static uintptr_t from, to;

typedef long (*any)(long, long, long, long, long, long, long);
static any real[FUNCTIONS];

static int look(struct dl_phdr_info *library, size_t, void *) {
    if (!library->dlpi_name || !strstr(library->dlpi_name, "libhprof_rs")) {
        return 0;
    }
    for (int i = 0; i < library->dlpi_phnum; i++) {
        uintptr_t start = library->dlpi_addr + library->dlpi_phdr[i].p_vaddr;
        if (library->dlpi_phdr[i].p_type == PT_LOAD && library->dlpi_phdr[i].p_flags & PF_X) {
            to = start + library->dlpi_phdr[i].p_memsz;
            from = start;
        }
    }
    return 1;
}

__attribute__((constructor)) static void begin(void) {
    for (int i = 0; i < FUNCTIONS; i++) {
        real[i] = (any) dlsym(RTLD_NEXT, names[i]);
    }
    const char *file = getenv("FAULT");
    int fd = file ? (int) syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) {
        return;
    }
    void *mapped = (void *) syscall(SYS_mmap, 0, sizeof(struct plan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    jvm = syscall(SYS_getpid);
    if (mapped == MAP_FAILED) {
        return;
    }
    plan = mapped;
    plan->functions = FUNCTIONS;
    for (int i = 0; i < FUNCTIONS; i++) {
        strncpy(plan->names[i], names[i], NAME_BYTES - 1);
    }
}

/* Whether this call is to fail. */
static int fails(int function, void *caller) {
    if (!plan) {
        return 0;
    }
    if (!from) {
        /* Loading the agent calls some of these functions: what is looked for is not there yet. */
        static __thread int looks;
        if (looks) {
            return 0;
        }
        looks = 1;
        dl_iterate_phdr(look, 0);
        looks = 0;
    }
    if ((uintptr_t) caller < from || (uintptr_t) caller >= to) {
        return 0;
    }
    uint32_t in_copy = real[NUMBER_syscall](SYS_getpid, 0, 0, 0, 0, 0, 0) != jvm;
    uint32_t call = __atomic_add_fetch(&plan->calls[in_copy][function], 1, __ATOMIC_SEQ_CST);
    if (plan->call != call || plan->function != (uint32_t) function || plan->in_copy != in_copy) {
        return 0;
    }
    plan->failed = 1;
    return 1;
}

/* Rust's locks call futex: the kernel never fails to wake, and whoever waits looks again. The test reads what goes to stderr. */
#define IS_SPARED(function, first) \
    ((function) == NUMBER_syscall && (first) == SYS_futex) || ((function) == NUMBER_write && (first) == STDERR_FILENO)

#define DEFINE(name, ...) \
    __attribute__((visibility("default"))) long instead_of_##name(long, long, long, long, long, long, long) __asm__(#name); \
    long instead_of_##name(long a, long b, long c, long d, long e, long f, long g) { \
        if (!(IS_SPARED(NUMBER_##name, a)) && fails(NUMBER_##name, __builtin_return_address(0))) { __VA_ARGS__ } \
        return real[NUMBER_##name](a, b, c, d, e, f, g); \
    }
#define DEFINE_MINUS_ONE(name) DEFINE(name, errno = (int) plan->error; return -1;)
#define DEFINE_ANSWERED(name) DEFINE(name, return plan->error;)
#define DEFINE_POINTER(name) DEFINE(name, errno = (int) plan->error; return 0;)
MINUS_ONE(DEFINE_MINUS_ONE)
ANSWERED(DEFINE_ANSWERED)
POINTER(DEFINE_POINTER)
