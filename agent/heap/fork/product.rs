//! What one fork makes: a heap dump, the graph of objects, or counts.

use format::ObjectSizes;

/// What one fork makes, and what `F` it is written to: the parent's file, and then the child's tail
/// of that file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Product<F> {
    /// A heap dump.
    Dump(F),
    /// The graph of objects with their sizes, for `hprof leaks`. It contains no values.
    Graph(F, ObjectSizes),
    /// The number and size of the objects of each class. Nothing is written.
    Counts(ObjectSizes),
}

impl<F> Product<F> {
    /// What it is written to; `None` for counts.
    pub(super) fn output(&self) -> Option<&F> {
        match self {
            Self::Dump(output) | Self::Graph(output, _) => Some(output),
            Self::Counts(_) => None,
        }
    }

    /// The same, to be changed.
    pub(super) fn output_mut(&mut self) -> Option<&mut F> {
        match self {
            Self::Dump(output) | Self::Graph(output, _) => Some(output),
            Self::Counts(_) => None,
        }
    }

    /// The sizes that it states; `None` for a dump, whose readers compute them.
    pub(super) fn sizes(&self) -> Option<ObjectSizes> {
        match self {
            Self::Dump(_) => None,
            Self::Graph(_, sizes) | Self::Counts(sizes) => Some(*sizes),
        }
    }

    /// The same product, written to what `to` makes of the output.
    pub(super) fn written_to<G, E>(
        &self,
        to: impl FnOnce(&F) -> Result<G, E>,
    ) -> Result<Product<G>, E> {
        Ok(match self {
            Self::Dump(output) => Product::Dump(to(output)?),
            Self::Graph(output, sizes) => Product::Graph(to(output)?, *sizes),
            Self::Counts(sizes) => Product::Counts(*sizes),
        })
    }
}
