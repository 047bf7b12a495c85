//! The memory that is left, for whoever must not go on without knowing it.

use super::error::DumpError;
use headroom::MemoryLeft;
use jvm::os::descriptor::in_reserve;

/// Opens what tells it.
pub(super) fn memory_left() -> Result<MemoryLeft, DumpError> {
    in_reserve(MemoryLeft::open)
        .map_err(|error| DumpError::NoCopy(format!("the memory left is not known: {error}")))
}
