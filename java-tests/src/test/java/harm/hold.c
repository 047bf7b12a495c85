/*
 * Preloaded into a JVM, this holds the copy that the agent forks at a place of the test's choice, so that no test
 * has to be quick. The place is a call that the copy makes: HOLD=settled, HOLD=frames, or the name of one of its threads.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static pid_t original;

__attribute__((constructor)) static void begin(void) { original = getpid(); }

static int is_copy(void) { return getpid() != original; }

static int is_set(const char *name, const char *value) {
    const char *set = getenv(name);
    return set && !strcmp(set, value);
}

static int open_in_folder(const char *name, int flags) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("HOLD_FOLDER"), name);
    return open(path, flags, 0600);
}

/* Holds the first copy only. It says where it is by a file's name, and waits for somebody who opens the pipe. */
static void hold(const char *place) {
    char name[32];
    if (!is_copy() || !is_set("HOLD", place) || open_in_folder("once", O_CREAT | O_EXCL) < 0) {
        return;
    }
    snprintf(name, sizeof name, "held.%d", getpid());
    close(open_in_folder(name, O_CREAT));
    open_in_folder("pipe", O_RDONLY);
}

/* The last thing that the copy does for its manners: it answers signals in its own way, and knows nothing of the heap. */
int dup2(int from, int to) {
    int (*next)(int, int) = dlsym(RTLD_NEXT, "dup2");
    if (to == STDERR_FILENO) {
        hold("settled");
    }
    return next(from, to);
}

/* FORK=none: at first the system has no memory for a copy, as where it promises no more than it has (vm.overcommit_memory=2). */
static int has_no_memory(void) {
    if (is_set("FORK", "none") && open_in_folder("once", O_CREAT | O_EXCL) >= 0) {
        errno = ENOMEM;
        return 1;
    }
    return 0;
}

/* As long as there is a file refuse.WHAT, the original has no descriptor for it. */
static int is_refused(const char *what) {
    char path[4096];
    snprintf(path, sizeof path, "%s/refuse.%s", getenv("HOLD_FOLDER"), what);
    if (is_copy() || access(path, F_OK)) {
        return 0;
    }
    errno = EMFILE;
    return 1;
}

int open64(const char *path, int flags, ...) {
    static int (*next)(const char *, int, ...);
    const char *what = strncmp(path, "/proc/self/", 11) ? 0 : path + 11;
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    if (what && !strchr(what, '/') && is_refused(what)) {
        return -1;
    }
    if (!next) {
        next = dlsym(RTLD_NEXT, "open64");
    }
    return next(path, flags, mode);
}

int socketpair(int domain, int type, int protocol, int ends[2]) {
    int (*next)(int, int, int, int *) = dlsym(RTLD_NEXT, "socketpair");
    return is_refused("socketpair") ? -1 : next(domain, type, protocol, ends);
}

long syscall(long number, ...) {
    static long (*next)(long, ...);
    long words[6];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < 6; i++) {
        words[i] = va_arg(rest, long);
    }
    va_end(rest);
    if (number == SYS_memfd_create && is_refused("memfd_create")) {
        return -1;
    }
    if (!next) {
        next = dlsym(RTLD_NEXT, "syscall");
    }
    return next(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

pid_t fork(void) {
    pid_t (*next)(void) = dlsym(RTLD_NEXT, "fork");
    return has_no_memory() ? -1 : next();
}

/* The fork without handlers, of glibc 2.34 and later. */
pid_t _Fork(void) {
    pid_t (*next)(void) = dlsym(RTLD_NEXT, "_Fork");
    return has_no_memory() ? -1 : next();
}

/* THREAD=none: the system has no thread for the first copy when it asks for its first one. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
    if (is_copy() && is_set("THREAD", "none") && open_in_folder("once", O_CREAT | O_EXCL) >= 0) {
        return EAGAIN;
    }
    return next(thread, attributes, run, argument);
}

static pthread_t threads[1024];
static int thread_count;

/* A thread of the copy has been given the stack of one of the original's threads, where the copy still reads. */
static void look_for_reuse(pthread_t thread) {
    int count = __atomic_load_n(&thread_count, __ATOMIC_SEQ_CST);
    for (int i = 0; i < count && i < 1024; i++) {
        if (threads[i] == thread) {
            close(open_in_folder("reused", O_CREAT));
        }
    }
}

/* Every thread of the JVM, of the agent and of the copy is given a name. */
int pthread_setname_np(pthread_t thread, const char *name) {
    int (*next)(pthread_t, const char *) = dlsym(RTLD_NEXT, "pthread_setname_np");
    if (is_copy()) {
        look_for_reuse(thread);
        hold(name);
    } else {
        int index = __atomic_fetch_add(&thread_count, 1, __ATOMIC_SEQ_CST);
        if (index < 1024) {
            threads[index] = thread;
        }
    }
    return next(thread, name);
}

/*
 * The copy winds its alarm clock as it goes on. The third time, since Java 16, it has read compiled frames, and not said so yet.
 * WATCHDOG=none: the copy has nobody but its parent to end it.
 */
unsigned alarm(unsigned seconds) {
    static int calls;
    unsigned (*next)(unsigned) = dlsym(RTLD_NEXT, "alarm");
    if (is_copy() && ++calls == 3) {
        hold("frames");
    }
    return is_copy() && is_set("WATCHDOG", "none") ? 0 : next(seconds);
}
