//! The use of the heap after collections, by the JDK's own beans (`java.lang.management`): only
//! they know it under every collector.

use super::jni::Jni;
use jni::errors::Result;
use jni::objects::{JClass, JObject, JString, JValue};
use jni::JNIEnv;

/// Words in the names of collectors, and of parts of collectors, that leave old objects alone.
const YOUNG: [&str; 7] = [
    "Young",
    "Scavenge",
    "Copy",
    "ParNew",
    "Minor",
    "Pauses",
    "Concurrent GC",
];

/// The heap after the last collection of each of its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AfterCollection {
    /// Bytes in use.
    pub used: u64,
    /// The most bytes that the heap may have.
    pub most: u64,
    /// Bytes in use in the parts with old objects.
    pub old: u64,
    /// Collections of these parts so far.
    pub collections: u64,
}

impl Jni<'_> {
    /// Asks the JDK; `None` if this runtime has no such beans, or no memory. Creates a few small
    /// objects, and runs code of the JDK alone.
    pub fn after_collection(&self) -> Option<AfterCollection> {
        let found = self.with_crate(read);
        found.filter(|found| found.most > 0)
    }
}

fn read(env: &mut JNIEnv<'_>) -> Result<AfterCollection> {
    let factory = factory(env)?;
    let mut found = AfterCollection::default();
    each(env, &factory, "getMemoryPoolMXBeans", |env, pool| {
        let kind = object(env, pool, "getType", "()Ljava/lang/management/MemoryType;")?;
        if text(env, &kind, "name")? != "HEAP" {
            return Ok(());
        }
        let usage = "()Ljava/lang/management/MemoryUsage;";
        let usage = object(env, pool, "getCollectionUsage", usage)?;
        if usage.is_null() {
            return Ok(());
        }
        let used = number(env, &usage, "getUsed")?;
        found.used = found.used.saturating_add(used);
        // Those are the parts with old objects.
        if env
            .call_method(pool, "isUsageThresholdSupported", "()Z", &[])?
            .z()?
        {
            found.old = found.old.saturating_add(used);
        }
        Ok(())
    })?;
    each(
        env,
        &factory,
        "getGarbageCollectorMXBeans",
        |env, collector| {
            let name = text(env, collector, "getName")?;
            if !YOUNG.iter().any(|word| name.contains(word)) {
                let count = number(env, collector, "getCollectionCount")?;
                found.collections = found.collections.saturating_add(count);
            }
            Ok(())
        },
    )?;
    let bean = "()Ljava/lang/management/MemoryMXBean;";
    let bean = env
        .call_static_method(&factory, "getMemoryMXBean", bean, &[])?
        .l()?;
    let usage = "()Ljava/lang/management/MemoryUsage;";
    let usage = object(env, &bean, "getHeapMemoryUsage", usage)?;
    found.most = number(env, &usage, "getMax")?;
    Ok(found)
}

/// The class of the bootstrap loader that provides the beans. Not by `FindClass`, which would ask
/// the application's loader.
fn factory<'e>(env: &mut JNIEnv<'e>) -> Result<JClass<'e>> {
    let name = env.new_string("java.lang.management.ManagementFactory")?;
    let class = env.get_object_class(&name)?;
    let class = env.get_object_class(&class)?;
    let bootstrap = JObject::null();
    let arguments = [
        JValue::Object(&name),
        JValue::Bool(1),
        JValue::Object(&bootstrap),
    ];
    let descriptor = "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;";
    let found = env.call_static_method(&class, "forName", descriptor, &arguments)?;
    Ok(found.l()?.into())
}

/// Calls `body` with each bean of a list.
fn each(
    env: &mut JNIEnv<'_>,
    factory: &JClass<'_>,
    list: &str,
    mut body: impl FnMut(&mut JNIEnv<'_>, &JObject<'_>) -> Result<()>,
) -> Result<()> {
    let beans = env
        .call_static_method(factory, list, "()Ljava/util/List;", &[])?
        .l()?;
    let count = env.call_method(&beans, "size", "()I", &[])?.i()?;
    for index in 0..count {
        let index = JValue::Int(index);
        let bean = env
            .call_method(&beans, "get", "(I)Ljava/lang/Object;", &[index])?
            .l()?;
        body(env, &bean)?;
    }
    Ok(())
}

fn object<'e>(
    env: &mut JNIEnv<'e>,
    of: &JObject<'_>,
    method: &str,
    descriptor: &str,
) -> Result<JObject<'e>> {
    env.call_method(of, method, descriptor, &[])?.l()
}

/// A number, 0 if it is negative, which stands for "not known".
fn number(env: &mut JNIEnv<'_>, of: &JObject<'_>, method: &str) -> Result<u64> {
    let number = env.call_method(of, method, "()J", &[])?.j()?;
    Ok(u64::try_from(number).unwrap_or(0))
}

fn text(env: &mut JNIEnv<'_>, of: &JObject<'_>, method: &str) -> Result<String> {
    let found = object(env, of, method, "()Ljava/lang/String;")?;
    Ok(env.get_string(&JString::from(found))?.into())
}
