//! What profiles say, as plain rows, and their ranking: the same for binary records and for text.
//!
//! A row carries numbers, a trace and a name as the JVM has it; the profiler fills rows from its own
//! tables. [`Sites`] and [`Costs`] put rows in order and cut the list where they no longer matter; both
//! know the traces they name, which must be in the file before they are.

mod cost;
mod monitor;
mod ranking;
mod site;

pub use cost::{Cost, Costs, Method};
pub use monitor::{Contention, Contentions};
pub use ranking::{Ranked, Share};
pub use site::{Site, SiteOrder, SiteTotals, Sites};
