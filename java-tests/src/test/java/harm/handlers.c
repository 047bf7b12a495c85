/*
 * A library with handlers for forks that never return, as OpenBLAS's wait for its threads (pthread_atfork). HANDLER=join waits for a
 * thread that never ends, HANDLER=lock for a lock that another thread keeps, HANDLER=sleep sleeps.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static sem_t is_locked;

static void *keep(void *unused) {
    pthread_mutex_lock(&lock);
    sem_post(&is_locked);
    while (1) {
        pause();
    }
    return unused;
}

static void wait_for_ever(void) {
    const char *how = getenv("HANDLER");
    if (!strcmp(how, "join")) {
        pthread_join(thread, NULL);
    } else if (!strcmp(how, "lock")) {
        pthread_mutex_lock(&lock);
    } else {
        while (1) {
            pause();
        }
    }
}

/* What the JVM calls when it has loaded the library; the answer is a version of JNI. */
int JNI_OnLoad(void *vm, void *reserved) {
    (void) vm;
    (void) reserved;
    sem_init(&is_locked, 0, 0);
    pthread_create(&thread, NULL, keep, NULL);
    while (sem_wait(&is_locked)) {
    }
    pthread_atfork(wait_for_ever, NULL, NULL);
    return 0x00010008;
}
