//! The comparison of an image with the memory that a fork copied at the same moment.
//!
//! Native code may write during a stop. So the parent reports after the fork what was written since
//! the image was complete, and the child leaves that out.

use super::memory_file::memory_file;
use super::tracked_image::TrackedImage;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::thread::sleep;
use std::time::Duration;

/// How long the child waits for the report, and how often it looks.
const LOOK: Duration = Duration::from_millis(1);
const LOOKS: u32 = 3000;

/// The parent's report: a file in memory with the addresses where runs of pages start and end, and
/// before them their number plus one.
#[derive(Debug)]
pub struct ImageCheck {
    report: File,
}

impl ImageCheck {
    /// A check without a report.
    pub fn new() -> io::Result<Self> {
        let report = File::from(memory_file(c"hprof check")?);
        Ok(Self { report })
    }

    /// In the parent, after the fork: reports what was written since the last round.
    pub fn report(&self, image: &TrackedImage, ranges: &[Range<u64>]) -> io::Result<()> {
        let runs = image.unread(ranges)?;
        let edges = runs.iter().flat_map(|run| [run.start, run.end]);
        let edges: Vec<u8> = edges.flat_map(u64::to_ne_bytes).collect();
        self.report.write_all_at(&edges, 8)?;
        let count = runs.len() as u64 + 1;
        self.report.write_all_at(&count.to_ne_bytes(), 0)
    }

    /// In the child: the number of pages that differ from the image, and that nobody wrote.
    pub fn differing_pages(
        &self,
        image: &TrackedImage,
        ranges: &[Range<u64>],
    ) -> io::Result<usize> {
        let written = self.written()?;
        let mut differing = image.differing_pages(ranges)?;
        differing.retain(|page| !written.iter().any(|run| run.contains(page)));
        Ok(differing.len())
    }

    /// Waits for the report.
    fn written(&self) -> io::Result<Vec<Range<u64>>> {
        let number = |index: u64| {
            let mut bytes = [0; 8];
            let read = self.report.read_exact_at(&mut bytes, index * 8);
            read.map(|()| u64::from_ne_bytes(bytes))
        };
        for _ in 0..LOOKS {
            // An empty file has no number.
            let count = number(0).unwrap_or(0);
            if let Some(runs) = count.checked_sub(1) {
                let runs = (0..runs).map(|run| Ok(number(1 + 2 * run)?..number(2 + 2 * run)?));
                return runs.collect();
            }
            sleep(LOOK);
        }
        Err(io::ErrorKind::TimedOut.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::tests::TestMemory;

    const PAGE: u64 = 4096;

    #[test]
    fn pages_differ_unless_they_were_written_since() {
        let memory = TestMemory::new(64 * PAGE);
        let all = memory.start()..memory.start() + 64 * PAGE;
        let Ok(mut image) = TrackedImage::new(all.clone()) else {
            return;
        };
        let ranges = [all];
        (0..64).for_each(|page| memory.put(page * PAGE, 1));
        image.round(&ranges, || true).expect("a round");
        let differing = |check: &ImageCheck| {
            let differing = check.differing_pages(&image, &ranges);
            differing.expect("pages that can be read")
        };
        let before = ImageCheck::new().expect("memory");
        before.report(&image, &ranges).expect("a report");
        assert_eq!(differing(&before), 0);
        memory.put(5 * PAGE, 2);
        memory.put(40 * PAGE, 2);
        assert_eq!(differing(&before), 2);
        let after = ImageCheck::new().expect("memory");
        after.report(&image, &ranges).expect("a report");
        assert_eq!(differing(&after), 0);
    }
}
