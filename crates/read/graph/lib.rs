//! The object graph of one heap: references between objects, dominators, and retained sizes.
//!
//! [`Heap`] reads a dump, or a graph stream, which the agent sends instead of a dump; [`Retained`]
//! computes its dominator tree. Sizes, and which references count, follow Eclipse MAT unless the
//! file or the caller specifies otherwise. Files may be hostile: no length in a file is trusted for
//! allocation, and nothing recurses.
#![forbid(unsafe_code)]

mod accumulation;
mod android_leaks;
mod calm;
mod children;
mod class_facts;
mod class_patterns;
mod common_path;
mod contents;
mod dominators;
mod edges;
mod elements;
mod ends;
mod entries;
mod error;
mod finder;
mod gleaner;
mod graph_objects;
mod graph_view;
mod heap;
mod heap_scan;
mod held_sites;
mod holder;
mod id_bits;
mod id_index;
mod id_list;
mod input;
mod kinds;
mod leaks;
mod link;
mod loader_copies;
mod loaders;
mod merged;
mod native_fields;
mod native_memory;
mod non_tree;
mod numbers;
mod object_set;
mod own_maps;
mod owners;
mod parts;
mod paths;
mod ranges;
mod reasons;
mod registered;
mod retained;
mod roles;
mod roots;
mod rows;
mod runs;
mod samples;
mod search;
mod shared_paths;
mod site_totals;
mod softly;
mod step_links;
mod string_rows;
mod structure;
mod sums;
mod survey;
mod suspect;
mod suspect_paths;
mod tags;
mod text;
mod tops;
mod tree_shape;
mod twins;
mod unchained;
mod values;
mod visitor;
mod waste;
mod way;

pub use android_leaks::{AndroidLeak, GivenUp};
pub use class_facts::{References, UNKNOWN_CLASS};
pub use contents::{Contents, FieldValue};
pub use elements::{Elements, Held};
pub use entries::{Entries, Entry};
pub use error::GraphError;
pub use finder::PATHS_MAX;
pub use heap::{Heap, Options};
pub use held_sites::{HeldSite, HeldSites};
pub use input::Input;
pub use leaks::{Leaks, THRESHOLD_PERCENT};
pub use loaders::LoaderTotal;
pub use native_memory::{NativeBlock, NativeGroup, NativeKind, NativeMemory};
pub use owners::{Owner, OwnerStart};
pub use paths::{LeftOut, Path, Step, PATH_STEPS};
pub use reader::Sizes;
pub use retained::{Dominator, Retained, Total, Unreachable};
pub use roots::{HeapRoot, Local};
pub use rows::{FieldRow, FieldTable, Kind, Rows};
pub use site_totals::SiteTotal;
pub use step_links::{Link, Links};
pub use string_rows::StringRow;
pub use suspect::{Alike, Calm, Group, NativeSuspect, Reason, Suspect, Who};
pub use unchained::Unchained;
pub use waste::{
    BoxedWaste, CollectionWaste, Copies, Duplicates, Filling, Unseen, Waste, SPARSE_PLACES,
};
pub use way::Way;
