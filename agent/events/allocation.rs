//! SampledObjectAlloc: an allocation that was chosen as a sample.

pub(crate) use crate::profile::Allocation;

use crate::jvmti::jni::Jni;
use crate::session::Session;

/// `SampledObjectAlloc`: notes class, stack and a weak handle; on the thread that allocates.
pub(crate) fn sampled_object_alloc(
    session: &Session,
    jni: &mut Jni<'_>,
    allocation: &Allocation<'_, '_>,
) {
    if let Some(allocations) = &session.profiles.allocations {
        allocations.note(&session.env, jni, allocation);
    }
}
