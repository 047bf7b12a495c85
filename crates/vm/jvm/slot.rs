//! The JVMTI functions that the agent calls: their positions in the function table, and the types
//! of their arguments.
//!
//! `jvmti-sys` covers only JVMTI 1.2 and returns Rust enums, which is undefined behaviour for a
//! number that a newer JVM adds. So the agent uses that crate's structs and calls the table by
//! number. The test below compares each number with the installed JDK's `jvmti.h`.

use jni::sys::{jfieldID, jint, jmethodID, jobject, JNIEnv};
use jvmti_sys::{jvmtiEnv, jvmtiLineNumberEntry, jvmtiStackInfo, jvmtiThreadInfo};
use std::ffi::{c_char, c_void};
use std::marker::PhantomData;

/// The position in the function table of a function of type `F`, counted from 1 as in `jvmti.h`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot<F> {
    /// Number in the comment before the table entry.
    pub(super) number: usize,
    function: PhantomData<F>,
}

/// The main function of a thread that the JVM starts.
pub(super) type AgentMain = unsafe extern "system" fn(*mut jvmtiEnv, *mut JNIEnv, *mut c_void);

/// The arguments are those of `jvmti.h` after the environment; `c_void` stands for types that one
/// file declares for itself. The title is that of the comment there.
macro_rules! slots {
    ($($name:ident($($argument:ty),*) = $number:literal, $title:literal;)*) => {
        $(pub(super) const $name: Slot<unsafe extern "system" fn(*mut jvmtiEnv, $($argument),*) -> jint> =
            Slot { number: $number, function: PhantomData };)*
        /// Every slot's number and title.
        #[cfg(test)]
        const ALL: &[(usize, &str)] = &[$(($number, $title)),*];
    };
}

slots! {
    SET_EVENT_NOTIFICATION_MODE(i32, i32, jobject) = 2, "Set Event Notification Mode";
    GET_ALL_THREADS(*mut i32, *mut *mut jobject) = 4, "Get All Threads";
    GET_THREAD_INFO(jobject, *mut jvmtiThreadInfo) = 9, "Get Thread Info";
    GET_OWNED_MONITOR_INFO(jobject, *mut i32, *mut *mut jobject) = 10, "Get Owned Monitor Info";
    GET_CURRENT_CONTENDED_MONITOR(jobject, *mut jobject) = 11, "Get Current Contended Monitor";
    RUN_AGENT_THREAD(jobject, AgentMain, *const c_void, i32) = 12, "Run Agent Thread";
    GET_TOP_THREAD_GROUPS(*mut i32, *mut *mut jobject) = 13, "Get Top Thread Groups";
    GET_THREAD_GROUP_INFO(jobject, *mut c_void) = 14, "Get Thread Group Info";
    GET_THREAD_STATE(jobject, *mut i32) = 17, "Get Thread State";
    GET_CURRENT_THREAD(*mut jobject) = 18, "Get Current Thread";
    IS_MODIFIABLE_CLASS(jobject, *mut u8) = 45, "Is Modifiable Class";
    ALLOCATE(i64, *mut *mut u8) = 46, "Allocate";
    DEALLOCATE(*mut u8) = 47, "Deallocate";
    GET_CLASS_SIGNATURE(jobject, *mut *mut c_char, *mut *mut c_char) = 48, "Get Class Signature";
    GET_CLASS_STATUS(jobject, *mut i32) = 49, "Get Class Status";
    GET_SOURCE_FILE_NAME(jobject, *mut *mut c_char) = 50, "Get Source File Name";
    GET_CLASS_MODIFIERS(jobject, *mut i32) = 51, "Get Class Modifiers";
    GET_CLASS_METHODS(jobject, *mut i32, *mut *mut jmethodID) = 52, "Get Class Methods";
    GET_CLASS_FIELDS(jobject, *mut i32, *mut *mut jfieldID) = 53, "Get Class Fields";
    GET_CLASS_LOADER(jobject, *mut jobject) = 57, "Get Class Loader";
    GET_OBJECT_HASH_CODE(jobject, *mut i32) = 58, "Get Object Hash Code";
    GET_OBJECT_MONITOR_USAGE(jobject, *mut c_void) = 59, "Get Object Monitor Usage";
    GET_FIELD_NAME(jobject, jfieldID, *mut *mut c_char, *mut *mut c_char, *mut *mut c_char) = 60, "Get Field Name (and Signature)";
    GET_FIELD_MODIFIERS(jobject, jfieldID, *mut i32) = 62, "Get Field Modifiers";
    GET_METHOD_NAME(jmethodID, *mut *mut c_char, *mut *mut c_char, *mut *mut c_char) = 64, "Get Method Name (and Signature)";
    GET_METHOD_DECLARING_CLASS(jmethodID, *mut jobject) = 65, "Get Method Declaring Class";
    GET_LINE_NUMBER_TABLE(jmethodID, *mut i32, *mut *mut jvmtiLineNumberEntry) = 70, "Get Line Number Table";
    GET_BYTECODES(jmethodID, *mut i32, *mut *mut u8) = 75, "Get Bytecodes";
    IS_METHOD_NATIVE(jmethodID, *mut u8) = 76, "Is Method Native";
    GET_LOADED_CLASSES(*mut i32, *mut *mut jobject) = 78, "Get Loaded Classes";
    GET_ALL_STACK_TRACES(i32, *mut *mut jvmtiStackInfo, *mut i32) = 100, "Get All Stack Traces";
    GET_THREAD_LIST_STACK_TRACES(i32, *const jobject, i32, *mut *mut jvmtiStackInfo) = 101, "Get Thread List Stack Traces";
    GET_THREAD_LOCAL_STORAGE(jobject, *mut *mut c_void) = 102, "Get Thread Local Storage";
    SET_THREAD_LOCAL_STORAGE(jobject, *const c_void) = 103, "Set Thread Local Storage";
    GET_STACK_TRACE(jobject, i32, i32, *mut c_void, *mut i32) = 104, "Get Stack Trace";
    GET_TAG(jobject, *mut i64) = 106, "Get Tag";
    SET_TAG(jobject, i64) = 107, "Set Tag";
    FORCE_GARBAGE_COLLECTION() = 108, "Force Garbage Collection";
    FOLLOW_REFERENCES(i32, jobject, jobject, *const c_void, *mut c_void) = 115, "Follow References";
    SET_EVENT_CALLBACKS(*const c_void, i32) = 122, "Set Event Callbacks";
    DISPOSE_ENVIRONMENT() = 127, "Dispose Environment";
    GET_SYSTEM_PROPERTY(*const c_char, *mut *mut c_char) = 131, "Get System Property";
    GET_POTENTIAL_CAPABILITIES(*mut c_void) = 140, "Get Potential Capabilities";
    ADD_CAPABILITIES(*const c_void) = 142, "Add Capabilities";
    RETRANSFORM_CLASSES(i32, *const jobject) = 152, "Retransform Classes";
    GET_OBJECT_SIZE(jobject, *mut i64) = 154, "Get Object Size";
    SET_HEAP_SAMPLING_INTERVAL(i32) = 156, "Set Heap Sampling Interval";
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::process::Command;

    /// The text of `jvmti.h` from the JDK of the first `javac` on the path, or of `JAVA_HOME`.
    pub(crate) fn jvmti_h() -> String {
        let home = match std::env::var_os("JAVA_HOME") {
            Some(home) => PathBuf::from(home),
            None => home_of_javac(),
        };
        let header = home.join("include").join("jvmti.h");
        std::fs::read_to_string(&header).unwrap_or_else(|e| {
            panic!(
                "{}: {e}. Install a JDK, or set JAVA_HOME to one.",
                header.display()
            )
        })
    }

    fn home_of_javac() -> PathBuf {
        let output = Command::new("javac")
            .args(["-J-XshowSettings:properties", "-version"])
            .output()
            .expect("javac is not on the path: install a JDK, or set JAVA_HOME to one");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = text
            .lines()
            .find(|l| l.trim_start().starts_with("java.home"))
            .expect("java.home");
        PathBuf::from(line.split('=').nth(1).expect("a value").trim())
    }

    #[test]
    fn every_number_is_the_one_in_jvmti_h() {
        let header = jvmti_h();
        for (number, title) in ALL {
            let line = format!("{number} : {title} */");
            assert!(header.contains(&line), "jvmti.h does not say: {line}");
        }
    }
}
