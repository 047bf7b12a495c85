//! HotSpot's own heap dumper, by the table of functions that the JDK's management classes call
//! (`JVM_GetManagement`; jmm.h).
//!
//! It needs no class and no module of the JDK. The table belongs to no specification: its entries
//! have moved between its versions. So only known versions are used, and the newest only if the
//! entry after the dumper is empty, as it must be.

use super::exported::exported_function;
use jvm::env::Env;
use jvm::java_version::java_version;
use jvm::jni::Jni;
use jvm::object::Object;
use std::ffi::c_void;
use std::time::{Duration, Instant};

/// The versions that tables are asked for by: those of Java 7 to 9, 10 to 13, 14 to 20, 21 to 25,
/// and 26.
const VERSIONS: [i32; 5] = [
    0x2001_0000,
    0x2002_0000,
    0x2003_0000,
    0x2004_0000,
    0x2005_0000,
];

/// The part of a version that changes with the table.
const MAJOR: i32 = 0x7FFF_0000;
/// The entry that returns the version.
const GET_VERSION: usize = 2;
/// An entry that is empty in the first tables of the third version, and that some of Java 11 fill.
const SPARE: usize = 1;
/// Distance from the dumper to the entry that is empty in the newest tables.
const TO_GAP: usize = 3;
/// Distance from the dumper back to the entry that returns a number of the JVM.
const FROM_LONG_ATTRIBUTE: usize = 17;
/// `JMM_TOTAL_SAFEPOINTSYNC_TIME_MS` and `JMM_TOTAL_STOPPED_TIME_MS`. The second contains the first
/// until 12 (`RuntimeService::record_safepoint_end`).
const TOTAL_SYNC_TIME: i32 = 106;
const TOTAL_STOPPED_TIME: i32 = 107;
const FIRST_WITHOUT_SYNC: u32 = 13;
/// HotSpot cuts each of the two numbers to milliseconds.
const RESOLUTION: Duration = Duration::from_millis(2);

type GetManagement = unsafe extern "C" fn(i32) -> *const *const c_void;
type GetVersion = unsafe extern "C" fn(*mut c_void) -> i32;
type GetLongAttribute = unsafe extern "C" fn(*mut c_void, *mut c_void, i32) -> i64;
type DumpHeap = unsafe extern "C" fn(*mut c_void, *mut c_void, u8) -> i32;

/// The table of this JVM.
#[derive(Clone, Copy, Debug)]
pub struct Management {
    table: *const *const c_void,
    dumper: usize,
}

impl Management {
    /// Finds the table. The error is the reason why there is none, as a sentence.
    pub fn find(jni: &Jni<'_>) -> Result<Self, String> {
        let none = || "this JVM has no heap dumper of its own".to_owned();
        let get = exported_function(c"JVM_GetManagement").ok_or_else(none)?;
        // SAFETY: the function of this name has had this signature since it is there (jvm.h).
        let get = unsafe { std::mem::transmute::<*mut c_void, GetManagement>(get) };
        // SAFETY: any number may be asked for: what is not known is answered by null.
        let tables = VERSIONS.map(|version| (unsafe { get(version) }, version));
        let found = tables.into_iter().find(|(table, _)| !table.is_null());
        let Some((table, version)) = found else {
            return Err(
                "this JVM has no heap dumper of its own, or one that the agent does not know"
                    .to_owned(),
            );
        };
        // SAFETY: every version's table has an entry for its version, and more entries than this
        // reads (jmm.h).
        let entry = |index: usize| unsafe { table.add(index).read() };
        let dumper = dumper(version, |index| entry(index).is_null());
        let unknown = || {
            "this JVM's table of management functions is not one that the agent knows, so its heap dumper cannot be called".to_owned()
        };
        let dumper = dumper.ok_or_else(unknown)?;
        // SAFETY: the entry has had this signature in every version.
        let said = unsafe {
            let function = std::mem::transmute::<*const c_void, GetVersion>(entry(GET_VERSION));
            function(environment(jni))
        };
        if said & MAJOR != version {
            return Err(unknown());
        }
        Ok(Self { table, dumper })
    }

    /// Has HotSpot write all objects, dead ones too, into a new file of this name, a string; the
    /// application stands still meanwhile.
    ///
    /// The error is HotSpot's message. The file belongs to its owner alone (0600).
    pub fn dump_heap(self, jni: &Jni<'_>, name: &Object<'_>) -> Result<(), String> {
        // SAFETY: `find` has seen that the entry is the dumper; a live string.
        let answer = unsafe {
            let function = self.entry(self.dumper);
            let function = std::mem::transmute::<*const c_void, DumpHeap>(function);
            function(environment(jni), name.handle().bits() as *mut c_void, 0)
        };
        match jni.take_exception() {
            Some(why) => Err(why),
            None if answer != 0 => Err("this JVM was built without a heap dumper".to_owned()),
            None => Ok(()),
        }
    }

    /// How long all safepoints have taken since the JVM started; `None` if the JVM does not count
    /// it (`-XX:-UsePerfData`).
    fn stopped(self, env: &Env, jni: &Jni<'_>) -> Option<Duration> {
        let millis = |attribute: i32| {
            // SAFETY: the entry stands there in every version (jmm.h); it takes null for an
            // attribute of the JVM.
            let millis = unsafe {
                let function = self.entry(self.dumper - FROM_LONG_ATTRIBUTE);
                let function = std::mem::transmute::<*const c_void, GetLongAttribute>(function);
                function(environment(jni), std::ptr::null_mut(), attribute)
            };
            u64::try_from(millis).ok().map(Duration::from_millis)
        };
        let stopped = millis(TOTAL_STOPPED_TIME)?;
        match java_version(env) >= FIRST_WITHOUT_SYNC {
            true => Some(stopped + millis(TOTAL_SYNC_TIME)?),
            false => Some(stopped),
        }
    }

    fn entry(self, index: usize) -> *const c_void {
        // SAFETY: the table has an entry of this index, and is never written to.
        unsafe { self.table.add(index).read() }
    }
}

/// Makes a call, and tells how long the application stood still meanwhile, at most: what HotSpot's
/// safepoints have taken, since the call also waits for its turn and for a processor. Where the JVM
/// does not count that, it is the time of the call.
pub fn stopped_by<T>(env: &Env, jni: &Jni<'_>, call: impl FnOnce() -> T) -> (T, Duration) {
    let management = Management::find(jni).ok();
    let stopped = || management.and_then(|management| management.stopped(env, jni));
    let (before, began) = (stopped(), Instant::now());
    let result = call();
    let took = began.elapsed();
    let stopped = stopped().zip(before);
    let pause = stopped.map(|(after, before)| after.saturating_sub(before) + RESOLUTION);
    (result, pause.map_or(took, |pause| pause.min(took)))
}

fn environment(jni: &Jni<'_>) -> *mut c_void {
    jni.address() as *mut c_void
}

/// Where the dumper stands in a table of this version, counted from 0; `None` if the table does not
/// look like one.
///
/// Updates of 8, 11 and 17 have filled empty entries, and have moved none.
fn dumper(version: i32, is_empty: impl Fn(usize) -> bool) -> Option<usize> {
    let dumper = match version {
        0x2001_0000 => 30,
        0x2002_0000 => 28,
        0x2003_0000 if is_empty(SPARE) => 29,
        // An 11 with a number of its own for what 14 has placed elsewhere.
        0x2003_0000 => 28,
        _ => 30,
    };
    let is_there = (dumper..dumper + TO_GAP).all(|index| !is_empty(index));
    let has_gap = version < 0x2004_0000 || is_empty(dumper + TO_GAP);
    (is_there && has_gap).then_some(dumper)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The empty entries of real tables.
    #[test]
    fn the_dumper_stands_where_each_version_has_it() {
        let found = |number: usize, empty: &[usize]| {
            let version = *VERSIONS.get(number).expect("a version");
            dumper(version, |index| empty.contains(&index))
        };
        assert_eq!(found(0, &[]), Some(30), "8u504");
        assert_eq!(found(0, &[1, 33]), Some(30), "the first 8");
        assert_eq!(found(1, &[0, 31]), Some(28), "11.0.13");
        assert_eq!(found(1, &[0]), Some(28), "an 11 that fills the gap");
        assert_eq!(found(2, &[0, 1, 32]), Some(29), "17.0.9");
        assert_eq!(found(2, &[0, 1]), Some(29), "17.0.15");
        assert_eq!(found(2, &[0, 31]), Some(28), "an 11 of the third version");
        assert_eq!(found(3, &[0, 1, 33]), Some(30), "21.0.8 and 25.0.2");
        assert_eq!(found(4, &[0, 1, 33]), Some(30), "26");
        assert_eq!(found(3, &[0, 1, 32]), None, "the entries have moved");
        assert_eq!(found(3, &[0, 1, 31, 33]), None);
    }
}
