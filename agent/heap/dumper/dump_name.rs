//! The name of HotSpot's file, as a Java string: made when the JVM starts, as a full heap has no
//! room for one when it is dumped.
//!
//! The folder is not known then, so the name leads through a file descriptor that stands for it.
//! The name is plain ASCII, whatever the folder's is: HotSpot would decode it as the locale says,
//! with Java code.

use crate::heap::error::DumpError;
use crate::heap::facts::kept_objects::KeptObjects;
use crate::heap::facts::own_room;
use jvm::env::Env;
use jvm::jni::Jni;
use jvm::object::Object;
use jvm::os::descriptor::FolderDescriptor;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::sync::OnceLock;
use writer::{Outlet, RawDump, WriteError};

/// The path that the kept string holds.
static PREPARED: OnceLock<DumpPath> = OnceLock::new();

/// A path through a descriptor.
#[derive(Debug)]
struct DumpPath {
    descriptor: FolderDescriptor,
    file_name: String,
}

/// The text of the string that is to be [kept](crate::heap::facts::kept_objects::prepare); `None`
/// without a free descriptor.
pub(in crate::heap) fn prepared_name() -> Option<String> {
    if PREPARED.get().is_none() {
        // Of two threads one comes first.
        let _ = PREPARED.set(DumpPath::new().ok()?);
    }
    PREPARED.get().map(DumpPath::text)
}

impl DumpPath {
    fn new() -> io::Result<Self> {
        // A name that no other process uses: its number alone is not enough where containers share
        // a folder.
        let chance = RandomState::new().build_hasher().finish();
        Ok(Self {
            descriptor: FolderDescriptor::new()?,
            file_name: format!("hprof-rs.{}.{chance:016x}.hotspot.part", std::process::id()),
        })
    }

    fn text(&self) -> String {
        self.descriptor.path_of(&self.file_name)
    }
}

/// Where HotSpot writes one dump. Dropping it removes what is left there.
#[derive(Debug)]
pub(super) struct DumpName<'f> {
    /// The path for HotSpot.
    pub(super) string: Object<'f>,
    /// The path, unless it is the prepared one.
    own: Option<DumpPath>,
    /// The file.
    pub(super) raw: RawDump,
    /// The prepared string lies among them.
    _kept: Option<KeptObjects<'f>>,
}

impl<'f> DumpName<'f> {
    /// A name beside the dump: the prepared one, or a new one if the heap has room.
    pub(super) fn beside(
        outlet: &dyn Outlet,
        env: &'f Env,
        jni: &'f Jni<'f>,
    ) -> Result<Self, DumpError> {
        let kept = KeptObjects::take(jni);
        let prepared = kept.as_ref().and_then(KeptObjects::name);
        let (string, own) = match (prepared, PREPARED.get()) {
            (Some(string), Some(_)) => (string, None),
            _ => {
                let path = DumpPath::new().map_err(|error| no_name(outlet, &error))?;
                (new_string(env, jni, &path.text())?, Some(path))
            }
        };
        let Some(path) = own.as_ref().or(PREPARED.get()) else {
            return Err(DumpError::Missing("memory for a string"));
        };
        let raw = RawDump::beside(outlet, &path.file_name)?;
        let stands = path.descriptor.stand_for(raw.folder());
        stands.map_err(|error| no_name(outlet, &error))?;
        Ok(Self {
            string,
            own,
            raw,
            _kept: kept,
        })
    }
}

impl Drop for DumpName<'_> {
    fn drop(&mut self) {
        if let (None, Some(path)) = (&self.own, PREPARED.get()) {
            path.descriptor.let_go();
        }
    }
}

fn no_name(outlet: &dyn Outlet, error: &io::Error) -> DumpError {
    DumpError::Write(WriteError::Io {
        path: outlet.to_string().into(),
        action: "having its folder opened for HotSpot",
        reason: error.to_string(),
    })
}

fn new_string<'f>(env: &Env, jni: &'f Jni<'f>, text: &str) -> Result<Object<'f>, DumpError> {
    let loaded = env.loaded_classes(jni).map_err(|error| DumpError::Jvm {
        what: "the list of loaded classes",
        error,
    })?;
    let has_room = own_room::comes(env, jni, &loaded);
    loaded.into_iter().for_each(|class| jni.forget(class));
    if !has_room {
        return Err(DumpError::FullHeap);
    }
    jni.new_string(text).ok_or(DumpError::FullHeap)
}
