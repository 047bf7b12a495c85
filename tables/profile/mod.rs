//! The results of profiles as plain rows, and their ranking: the same for binary records and for
//! text.
//!
//! A row contains numbers, a trace and a name in the JVM's form; the profiler fills rows from its
//! own tables. [`Sites`] and [`Costs`] sort rows and cut the list where the shares get small. Both
//! list the traces that their rows refer to, which must precede them in the file.

mod cost;
mod monitor;
mod ranking;
mod site;

pub use cost::{Cost, Costs, Method};
pub use monitor::{Contention, Contentions};
pub use ranking::{Ranked, Ranking, Share};
pub use site::{Site, SiteOrder, SiteTotals, Sites};
