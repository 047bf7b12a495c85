/* What native code holds, for InNative.java. Its threads stop for ever: in Java, or here. */
#include <jni.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static JavaVM *jvm;
static jclass in_native;

JNIEXPORT jint JNI_OnLoad(JavaVM *vm, void *reserved) {
    JNIEnv *env;
    (void)reserved;
    jvm = vm;
    (*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_6);
    in_native = (*env)->NewGlobalRef(env, (*env)->FindClass(env, "roots/InNative"));
    return JNI_VERSION_1_6;
}

static jobject token(JNIEnv *env, jint place) {
    jmethodID make = (*env)->GetStaticMethodID(env, in_native, "token", "(I)Lroots/Tok;");
    return (*env)->CallStaticObjectMethod(env, in_native, make, place);
}

static void call(JNIEnv *env, jobject stop, const char *method) {
    jclass type = (*env)->FindClass(env, "roots/Stop");
    jmethodID id = (*env)->GetMethodID(env, type, method, "()V");
    (*env)->DeleteLocalRef(env, type);
    (*env)->CallVoidMethod(env, stop, id);
}

static void stop_in_java(JNIEnv *env, jobject stop) { call(env, stop, "here"); }

/* A signal's handler may run on this thread. */
static void stop_here(void) {
    for (;;) {
        pause();
    }
}

static void say_and_stop_here(JNIEnv *env, jobject stop) {
    call(env, stop, "inNative");
    stop_here();
}

JNIEXPORT void JNICALL Java_roots_InNative_local(JNIEnv *env, jclass type, jint place, jobject stop) {
    (void)type;
    token(env, place);
    stop_in_java(env, stop);
}

JNIEXPORT void JNICALL Java_roots_InNative_pushed(JNIEnv *env, jclass type, jint place, jobject stop) {
    (void)type;
    token(env, place);
    (*env)->PushLocalFrame(env, 8);
    stop_in_java(env, stop);
}

JNIEXPORT void JNICALL Java_roots_InNative_global(JNIEnv *env, jclass type, jint place, jobject stop) {
    (void)type;
    (*env)->NewGlobalRef(env, token(env, place));
    call(env, stop, "inNative");
}

struct start {
    jint place;
    jobject stop;
    int calls_java;
};

static void *run(void *argument) {
    struct start *start = argument;
    JNIEnv *env;
    (*jvm)->AttachCurrentThreadAsDaemon(jvm, (void **)&env, NULL);
    token(env, start->place);
    if (start->calls_java) {
        stop_in_java(env, start->stop);
    }
    say_and_stop_here(env, start->stop);
    return NULL;
}

static void start(JNIEnv *env, jint place, jobject stop, int calls_java) {
    struct start *start = malloc(sizeof *start);
    pthread_t thread;
    start->place = place;
    start->stop = (*env)->NewGlobalRef(env, stop);
    start->calls_java = calls_java;
    pthread_create(&thread, NULL, run, start);
}

JNIEXPORT void JNICALL Java_roots_InNative_attached(JNIEnv *env, jclass type, jint place, jobject stop) {
    (void)type;
    start(env, place, stop, 1);
}

JNIEXPORT void JNICALL Java_roots_InNative_alone(JNIEnv *env, jclass type, jint place, jobject stop) {
    (void)type;
    start(env, place, stop, 0);
}

JNIEXPORT void JNICALL Java_roots_InNative_pending(JNIEnv *env, jclass type, jint place, jobject stop) {
    jmethodID make = (*env)->GetStaticMethodID(env, in_native, "thrown", "(I)Ljava/lang/Throwable;");
    jobject thrown = (*env)->CallStaticObjectMethod(env, in_native, make, place);
    (void)type;
    call(env, stop, "inNative");
    (*env)->Throw(env, thrown);
    (*env)->DeleteLocalRef(env, thrown);
    stop_here();
}

JNIEXPORT void JNICALL Java_roots_InNative_argument(JNIEnv *env, jclass type, jobject token, jobject stop) {
    (void)type;
    (void)token;
    say_and_stop_here(env, stop);
}

JNIEXPORT void JNICALL Java_roots_InNative_00024Receiver_stop(JNIEnv *env, jobject receiver, jobject stop) {
    (void)receiver;
    say_and_stop_here(env, stop);
}

JNIEXPORT void JNICALL Java_roots_InNative_entered(JNIEnv *env, jclass type, jint place, jobject stop) {
    jobject locked = token(env, place);
    (void)type;
    (*env)->MonitorEnter(env, locked);
    (*env)->DeleteLocalRef(env, locked);
    say_and_stop_here(env, stop);
}
