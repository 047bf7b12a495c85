//! Capabilities of an environment: requested from the JVM, never assumed (JVMTI, "Capability").

use super::env::{call, Env};
use super::error::JvmtiError;

/// A capability: its bit in `jvmtiCapabilities`, counted from the first in `jvmti.h`, and its name
/// there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capability {
    bit: usize,
    /// Name in `jvmti.h`, for messages.
    pub name: &'static str,
}

impl Capability {
    const fn new(bit: usize, name: &'static str) -> Self {
        Self { bit, name }
    }
}

/// Tags on objects, by which the heap walk identifies them.
pub const TAG_OBJECTS: Capability = Capability::new(0, "can_tag_objects");
/// The bytecodes of a method.
pub const GET_BYTECODES: Capability = Capability::new(3, "can_get_bytecodes");
/// The monitors that a thread owns.
pub const GET_OWNED_MONITOR_INFO: Capability = Capability::new(5, "can_get_owned_monitor_info");
/// The monitor that a thread waits for.
pub const GET_CURRENT_CONTENDED_MONITOR: Capability =
    Capability::new(6, "can_get_current_contended_monitor");
/// The threads that own a monitor, and that wait for it.
pub const GET_MONITOR_INFO: Capability = Capability::new(7, "can_get_monitor_info");
/// The source file of a class, for stack frames.
pub const GET_SOURCE_FILE_NAME: Capability = Capability::new(11, "can_get_source_file_name");
/// The line of a bytecode, for stack frames.
pub const GET_LINE_NUMBERS: Capability = Capability::new(12, "can_get_line_numbers");
/// Events of compiled methods.
pub const GENERATE_COMPILED_METHOD_LOAD_EVENTS: Capability =
    Capability::new(27, "can_generate_compiled_method_load_events");
/// The hook for class files of every class.
pub const GENERATE_ALL_CLASS_HOOK_EVENTS: Capability =
    Capability::new(26, "can_generate_all_class_hook_events");
/// Events of threads that wait for monitors, and of `Object.wait`.
pub const GENERATE_MONITOR_EVENTS: Capability = Capability::new(28, "can_generate_monitor_events");
/// Starts and ends of collections.
pub const GENERATE_GARBAGE_COLLECTION_EVENTS: Capability =
    Capability::new(31, "can_generate_garbage_collection_events");
/// Loaded classes can pass the hook again.
pub const RETRANSFORM_CLASSES: Capability = Capability::new(37, "can_retransform_classes");
/// Classes of the bootstrap loader can do so, too.
pub const RETRANSFORM_ANY_CLASS: Capability = Capability::new(38, "can_retransform_any_class");
/// Events when a heap, or metaspace, is full.
pub const GENERATE_RESOURCE_EXHAUSTION_HEAP_EVENTS: Capability =
    Capability::new(39, "can_generate_resource_exhaustion_heap_events");
/// Events when a thread cannot be started.
pub const GENERATE_RESOURCE_EXHAUSTION_THREADS_EVENTS: Capability =
    Capability::new(40, "can_generate_resource_exhaustion_threads_events");
/// Samples of allocated objects; JDK 11 and later.
pub const GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS: Capability =
    Capability::new(43, "can_generate_sampled_object_alloc_events");
/// A set of capabilities as the JVM lays it out on little-endian processors.
type Bits = u128;

impl Capability {
    fn mask(self) -> Bits {
        1 << self.bit
    }
}

impl Env {
    /// Takes those of `wanted` that the JVM offers now, and returns the others.
    ///
    /// The JVM offers less once it has started, so call it early. Any phase except dead.
    pub fn take_capabilities(&self, wanted: &[Capability]) -> Result<Vec<Capability>, JvmtiError> {
        let mut offered: Bits = 0;
        // SAFETY: `offered` outlives the call.
        unsafe { call!(self, GET_POTENTIAL_CAPABILITIES((&raw mut offered).cast())) }?;
        let mut taken: Bits = 0;
        let mut missing = Vec::new();
        for &capability in wanted {
            if offered & capability.mask() != 0 {
                taken |= capability.mask();
            } else {
                missing.push(capability);
            }
        }
        // SAFETY: `taken` outlives the call.
        unsafe { call!(self, ADD_CAPABILITIES((&raw const taken).cast())) }?;
        Ok(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits that a header of JDK `since` or later must have.
    const KNOWN: [(Capability, u32); 14] = [
        (GET_BYTECODES, 8),
        (GENERATE_ALL_CLASS_HOOK_EVENTS, 8),
        (GENERATE_GARBAGE_COLLECTION_EVENTS, 8),
        (RETRANSFORM_CLASSES, 8),
        (RETRANSFORM_ANY_CLASS, 8),
        (TAG_OBJECTS, 8),
        (GET_OWNED_MONITOR_INFO, 8),
        (GET_CURRENT_CONTENDED_MONITOR, 8),
        (GET_MONITOR_INFO, 8),
        (GENERATE_MONITOR_EVENTS, 8),
        (GET_SOURCE_FILE_NAME, 8),
        (GET_LINE_NUMBERS, 8),
        (GENERATE_COMPILED_METHOD_LOAD_EVENTS, 8),
        (GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS, 11),
    ];

    #[test]
    fn every_bit_is_the_one_in_jvmti_h() {
        let header = super::super::slot::tests::jvmti_h();
        let names: Vec<&str> = header
            .lines()
            .filter_map(|line| line.trim().strip_prefix("unsigned int can_"))
            .filter_map(|rest| rest.split(' ').next())
            .collect();
        assert!(
            names.len() >= 41,
            "the capabilities of jvmti.h were not found"
        );
        for (capability, since) in KNOWN {
            match names
                .iter()
                .position(|name| capability.name == format!("can_{name}"))
            {
                Some(bit) => assert_eq!(bit, capability.bit, "{}", capability.name),
                None => assert!(since > 8, "jvmti.h does not name {}", capability.name),
            }
        }
    }

    #[test]
    fn a_bit_is_set_in_its_word() {
        let bits = GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS.mask().to_ne_bytes();
        let words = bits.chunks_exact(4);
        let words = words.map(|word| u32::from_ne_bytes(word.try_into().expect("four bytes")));
        assert_eq!(words.collect::<Vec<_>>(), [0, 1 << 11, 0, 0]);
    }
}
