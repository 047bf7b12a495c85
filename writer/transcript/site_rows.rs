//! The record of allocation sites, read back.

use std::io::{self, Read, Seek, Write};

use tables::{ClassId, TraceId};

use super::classes::Classes;
use super::names::Names;
use super::records::Records;
use crate::profile::{Site, SiteOrder, SiteTotals, Sites};
use crate::profile_record::SORTED_BY_ALLOCATION;
use crate::text::{Moment, SitesBlock};

/// The rows above the cutoff, and the totals of all.
///
/// A number of 4 GiB or more is as it is in the record, 2^32 - 1, but for what was allocated in all.
#[derive(Debug)]
pub(super) struct SiteRows {
    order: SiteOrder,
    live: SiteTotals,
    allocated: SiteTotals,
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    class: ClassId,
    trace: TraceId,
    live: SiteTotals,
    allocated: SiteTotals,
}

impl SiteRows {
    /// The record at hand.
    pub(super) fn read<R: Read + Seek>(records: &mut Records<R>) -> io::Result<Self> {
        let order = match records.u2()? & SORTED_BY_ALLOCATION {
            0 => SiteOrder::LiveBytes,
            _ => SiteOrder::AllocatedBytes,
        };
        // The cutoff: its work is done.
        records.skip(4)?;
        let live = totals(records)?;
        let allocated = SiteTotals {
            bytes: records.u8()?,
            objects: records.u8()?,
        };
        let mut rows = Vec::new();
        for _ in 0..records.u4()? {
            // The kind of array, which its name tells.
            records.skip(1)?;
            rows.push(Row {
                class: records.serial(ClassId::new)?,
                trace: records.serial(TraceId::new)?,
                live: totals(records)?,
                allocated: totals(records)?,
            });
        }
        Ok(Self {
            order,
            live,
            allocated,
            rows,
        })
    }

    /// Writes the SITES block.
    pub(super) fn encode(
        &self,
        classes: &Classes,
        names: &Names,
        at: Moment,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let signature = |row: &Row| signature(classes.bytes_of_serial(row.class, names));
        let signatures: Vec<Vec<u8>> = self.rows.iter().map(signature).collect();
        let site = |(row, signature)| {
            let (row, signature): (&Row, &Vec<u8>) = (row, signature);
            Site {
                class: row.class,
                signature,
                trace: row.trace,
                live: row.live,
                allocated: row.allocated,
            }
        };
        let sites: Vec<Site<'_>> = self.rows.iter().zip(&signatures).map(site).collect();
        let sites = Sites::of_whole(&sites, self.order, self.live, self.allocated);
        SitesBlock { sites: &sites, at }.encode(out)
    }
}

/// The signature of a class with this name, as JVMTI has it.
fn signature(name: &[u8]) -> Vec<u8> {
    match name {
        [] | [b'[', ..] => name.to_vec(),
        _ => [b"L", name, b";"].concat(),
    }
}

fn totals<R: Read + Seek>(records: &mut Records<R>) -> io::Result<SiteTotals> {
    Ok(SiteTotals {
        bytes: u64::from(records.u4()?),
        objects: u64::from(records.u4()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile_record::AllocSites;
    use crate::record::Header;
    use std::io::Cursor;

    const AT: Moment = Moment {
        seconds_since_epoch: 0,
        utc_offset_seconds: 0,
    };

    fn site(class: u32, signature: &'static [u8], bytes: u64) -> Site<'static> {
        let objects = 2;
        Site {
            class: ClassId::new(class).unwrap(),
            signature,
            trace: TraceId::new(7).unwrap(),
            live: SiteTotals { bytes, objects },
            allocated: SiteTotals {
                bytes: bytes * 3,
                objects: objects * 3,
            },
        }
    }

    #[test]
    fn the_block_of_the_record_is_that_of_the_sites() {
        let rows = [
            site(1, b"[B", 500),
            site(2, b"Ldemo/A;", 490),
            site(3, b"[[I", 10),
        ];
        let (mut classes, mut names) = (Classes::default(), Names::default());
        for (serial, name) in [(1, &b"[B"[..]), (2, b"demo/A"), (3, b"[[I")] {
            let object = tables::ObjectId::new(u64::from(serial)).unwrap();
            classes.insert_name(ClassId::new(serial).unwrap(), object, u64::from(serial));
            names.insert(u64::from(serial), name);
        }
        for order in [SiteOrder::LiveBytes, SiteOrder::AllocatedBytes] {
            // The last row is cut off, but counts in the percentages.
            let sites = Sites::new(&rows, order, 0.1);
            let mut expected = Vec::new();
            SitesBlock {
                sites: &sites,
                at: AT,
            }
            .encode(&mut expected)
            .unwrap();
            let mut file = Vec::new();
            let millis_since_epoch = 0;
            Header { millis_since_epoch }.encode(&mut file).unwrap();
            AllocSites { sites: &sites }.encode(&mut file).unwrap();
            let mut records = Records::new(Cursor::new(file));
            records.first().unwrap();
            records.next().unwrap();
            let mut found = Vec::new();
            let read = SiteRows::read(&mut records).unwrap();
            read.encode(&classes, &names, AT, &mut found).unwrap();
            assert_eq!(
                String::from_utf8(found).unwrap(),
                String::from_utf8(expected).unwrap()
            );
            assert_eq!(records.left(), 0);
        }
    }
}
