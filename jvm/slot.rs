//! The numbers of the JVMTI functions that the agent calls: their positions in the function table.
//!
//! `jvmti-sys` covers only JVMTI 1.2 and returns Rust enums, which is undefined behaviour for a
//! number that a newer JVM adds. So the agent uses that crate's structs and calls the table by
//! number. The test below compares each number with the installed JDK's `jvmti.h`.

/// A position in the function table, counted from 1 as in `jvmti.h`, and its title there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// Number in the comment before the table entry.
    pub(super) number: usize,
    /// Title in that comment. Only the test reads it.
    #[cfg_attr(not(test), allow(dead_code))]
    pub(super) title: &'static str,
}

macro_rules! slots {
    ($($name:ident = $number:literal, $title:literal;)*) => {
        $(pub(super) const $name: Slot = Slot { number: $number, title: $title };)*
        /// Every slot, for the test.
        #[cfg(test)]
        const ALL: &[Slot] = &[$($name),*];
    };
}

slots! {
    SET_EVENT_NOTIFICATION_MODE = 2, "Set Event Notification Mode";
    GET_ALL_THREADS = 4, "Get All Threads";
    GET_THREAD_INFO = 9, "Get Thread Info";
    GET_OWNED_MONITOR_INFO = 10, "Get Owned Monitor Info";
    GET_CURRENT_CONTENDED_MONITOR = 11, "Get Current Contended Monitor";
    RUN_AGENT_THREAD = 12, "Run Agent Thread";
    GET_TOP_THREAD_GROUPS = 13, "Get Top Thread Groups";
    GET_THREAD_GROUP_INFO = 14, "Get Thread Group Info";
    GET_THREAD_STATE = 17, "Get Thread State";
    GET_CURRENT_THREAD = 18, "Get Current Thread";
    IS_MODIFIABLE_CLASS = 45, "Is Modifiable Class";
    ALLOCATE = 46, "Allocate";
    DEALLOCATE = 47, "Deallocate";
    GET_CLASS_SIGNATURE = 48, "Get Class Signature";
    GET_CLASS_STATUS = 49, "Get Class Status";
    GET_SOURCE_FILE_NAME = 50, "Get Source File Name";
    GET_CLASS_MODIFIERS = 51, "Get Class Modifiers";
    GET_CLASS_METHODS = 52, "Get Class Methods";
    GET_CLASS_FIELDS = 53, "Get Class Fields";
    GET_CLASS_LOADER = 57, "Get Class Loader";
    GET_OBJECT_HASH_CODE = 58, "Get Object Hash Code";
    GET_OBJECT_MONITOR_USAGE = 59, "Get Object Monitor Usage";
    GET_FIELD_NAME = 60, "Get Field Name (and Signature)";
    GET_FIELD_MODIFIERS = 62, "Get Field Modifiers";
    GET_METHOD_NAME = 64, "Get Method Name (and Signature)";
    GET_METHOD_DECLARING_CLASS = 65, "Get Method Declaring Class";
    GET_LINE_NUMBER_TABLE = 70, "Get Line Number Table";
    GET_BYTECODES = 75, "Get Bytecodes";
    IS_METHOD_NATIVE = 76, "Is Method Native";
    GET_LOADED_CLASSES = 78, "Get Loaded Classes";
    GET_ALL_STACK_TRACES = 100, "Get All Stack Traces";
    GET_THREAD_LIST_STACK_TRACES = 101, "Get Thread List Stack Traces";
    GET_THREAD_LOCAL_STORAGE = 102, "Get Thread Local Storage";
    SET_THREAD_LOCAL_STORAGE = 103, "Set Thread Local Storage";
    GET_STACK_TRACE = 104, "Get Stack Trace";
    GET_TAG = 106, "Get Tag";
    SET_TAG = 107, "Set Tag";
    FORCE_GARBAGE_COLLECTION = 108, "Force Garbage Collection";
    FOLLOW_REFERENCES = 115, "Follow References";
    SET_EVENT_CALLBACKS = 122, "Set Event Callbacks";
    DISPOSE_ENVIRONMENT = 127, "Dispose Environment";
    GET_SYSTEM_PROPERTY = 131, "Get System Property";
    GET_THREAD_CPU_TIME = 137, "Get Thread CPU Time";
    GET_POTENTIAL_CAPABILITIES = 140, "Get Potential Capabilities";
    ADD_CAPABILITIES = 142, "Add Capabilities";
    RETRANSFORM_CLASSES = 152, "Retransform Classes";
    GET_OBJECT_SIZE = 154, "Get Object Size";
    SET_HEAP_SAMPLING_INTERVAL = 156, "Set Heap Sampling Interval";
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
        for slot in ALL {
            let line = format!("{} : {} */", slot.number, slot.title);
            assert!(header.contains(&line), "jvmti.h does not say: {line}");
        }
    }
}
