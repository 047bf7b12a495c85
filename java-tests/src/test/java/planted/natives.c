/* Keeps each object that it gets, for Natives.java. */
#include <jni.h>

JNIEXPORT void JNICALL Java_planted_Natives_00024Globals_keep(JNIEnv *env, jclass type, jobject object) {
    (void)type;
    (*env)->NewGlobalRef(env, object);
}
