//! Reads in a separate thread, while the caller processes what was read before.

use std::io::{self, Read};
use std::mem::take;
use std::sync::mpsc::{channel, sync_channel, Receiver, Sender};
use std::thread::{Builder, JoinHandle};

/// Bytes that are passed at a time.
const BLOCK_BYTES: u64 = 256 << 10;

/// Most blocks that wait for the caller.
const BLOCKS: usize = 4;

/// The bytes that a thread reads, in order.
#[derive(Debug)]
pub(crate) struct ReadAhead {
    /// Blocks, an empty one at the end; `None` once the caller has stopped reading.
    blocks: Option<Receiver<io::Result<Vec<u8>>>>,
    thread: Option<JoinHandle<()>>,
    /// Returns used blocks.
    used: Sender<Vec<u8>>,
    block: Vec<u8>,
    /// Number of the block's bytes already returned.
    at: usize,
    has_ended: bool,
}

impl ReadAhead {
    /// Starts to read. Errors: the system cannot start a thread.
    pub(crate) fn start(mut from: impl Read + Send + 'static) -> io::Result<Self> {
        let (to, blocks) = sync_channel(BLOCKS);
        let (used, free) = channel::<Vec<u8>>();
        let thread = Builder::new().spawn(move || loop {
            let mut block = free.try_recv().unwrap_or_default();
            block.clear();
            let read = from.by_ref().take(BLOCK_BYTES).read_to_end(&mut block);
            let is_end = block.is_empty();
            // Bytes read before a fault are passed first.
            let told = match read {
                Err(_) if is_end => Ok(()),
                _ => to.send(Ok(block)),
            };
            if let Err(fault) = read {
                // Fails only if the caller has stopped reading.
                let _ = to.send(Err(fault));
                return;
            }
            if is_end || told.is_err() {
                return;
            }
        })?;
        Ok(Self {
            blocks: Some(blocks),
            thread: Some(thread),
            used,
            block: Vec::new(),
            at: 0,
            has_ended: false,
        })
    }

    /// Waits for bytes, for the end, or for a fault.
    fn next_block(&mut self) -> io::Result<()> {
        // Fails only if the thread has ended and needs no blocks.
        let _ = self.used.send(take(&mut self.block));
        self.at = 0;
        let block = match self.blocks.as_ref().map(Receiver::recv) {
            Some(Ok(block)) => block,
            _ => Err(io::Error::other(
                "the thread that decompresses the file has ended",
            )),
        };
        self.has_ended = block.as_ref().map_or(true, Vec::is_empty);
        self.block = block?;
        Ok(())
    }
}

impl Drop for ReadAhead {
    /// Waits for the thread: the next pass may use the same file position.
    fn drop(&mut self) {
        self.blocks = None;
        if let Some(thread) = self.thread.take() {
            // If it panicked, the caller has seen the end of the channel.
            let _ = thread.join();
        }
    }
}

impl Read for ReadAhead {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.at == self.block.len() && !self.has_ended {
            self.next_block()?;
        }
        let mut rest = self.block.get(self.at..).unwrap_or_default();
        let count = rest.read(to)?;
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    /// Returns this many bytes, then fails.
    struct Failing(u64);

    impl Read for Failing {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let count = io::repeat(7).take(self.0).read(to)?;
            self.0 -= count as u64;
            match count {
                0 => Err(ErrorKind::UnexpectedEof.into()),
                count => Ok(count),
            }
        }
    }

    #[test]
    fn all_bytes_come_in_order() {
        for count in [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, 9 * BLOCK_BYTES + 5] {
            let bytes: Vec<u8> = (0..count).map(|at| (at % 251) as u8).collect();
            let mut ahead = ReadAhead::start(io::Cursor::new(bytes.clone())).unwrap();
            let mut read = Vec::new();
            ahead.read_to_end(&mut read).unwrap();
            assert!(read == bytes, "{count}");
            assert_eq!(ahead.read(&mut [0; 9]).unwrap(), 0);
        }
    }

    #[test]
    fn what_comes_before_a_fault_is_read() {
        let count = BLOCK_BYTES + 9;
        let mut ahead = ReadAhead::start(Failing(count)).unwrap();
        let mut read = Vec::new();
        let fault = ahead.read_to_end(&mut read).unwrap_err();
        assert_eq!(
            (read.len() as u64, fault.kind()),
            (count, ErrorKind::UnexpectedEof)
        );
    }

    #[test]
    fn a_thread_that_panics_is_no_end() {
        struct Panicking;
        impl Read for Panicking {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                panic!("on purpose")
            }
        }
        let mut ahead = ReadAhead::start(Panicking).unwrap();
        assert!(ahead.read(&mut [0]).is_err());
    }
}
