/* Threads that leave the JVM when the C library takes their thread-local values apart, as JNA's do. */
#include <pthread.h>
#include <jni.h>

static JavaVM *jvm;
static pthread_key_t key;

static void leave(void *unused) {
    (*jvm)->DetachCurrentThread(jvm);
}

static void *run(void *unused) {
    JNIEnv *jni;
    (*jvm)->AttachCurrentThread(jvm, (void **)&jni, 0);
    pthread_setspecific(key, jni);
    jclass list = (*jni)->FindClass(jni, "java/util/ArrayList");
    (*jni)->NewObject(jni, list, (*jni)->GetMethodID(jni, list, "<init>", "(I)V"), 10);
    return 0;
}

JNIEXPORT void JNICALL Java_times_LateThreads_run(JNIEnv *jni, jclass unused, jint count) {
    (*jni)->GetJavaVM(jni, &jvm);
    pthread_key_create(&key, leave);
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, run, 0);
        pthread_join(thread, 0);
    }
}
