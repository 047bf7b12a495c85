//! The frames of a `StackMapTable`: the types that the verifier expects at jump targets (4.7.4).

use crate::bytes::Bytes;
use crate::cursor::Cursor;
use crate::error::Reason;
use crate::layout::Layout;

const SAME_MOST: u8 = 63;
const ONE_STACK_FIRST: u8 = 64;
const ONE_STACK_MOST: u8 = 127;
const ONE_STACK_EXTENDED: u8 = 247;
const SAME_EXTENDED: u8 = 251;
const FULL: u8 = 255;
pub(crate) const UNINITIALIZED_THIS: u8 = 6;
const OBJECT: u8 = 7;
pub(crate) const UNINITIALIZED: u8 = 8;

/// A frame as in the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    tag: u8,
    /// Its position in the code.
    pub(crate) at: usize,
    /// The local variables in the frame: all of them, the appended ones, or none.
    pub(crate) locals: Types<'a>,
    pub(crate) stack: Types<'a>,
}

/// How a frame changes the local variables of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Locals {
    /// Removes this many from the end.
    Chop(usize),
    /// Appends those of the frame.
    Append,
    /// Sets them all.
    Replace,
}

impl Frame<'_> {
    pub(crate) fn effect(&self) -> Locals {
        match self.tag {
            248..=250 => Locals::Chop(usize::from(SAME_EXTENDED - self.tag)),
            FULL => Locals::Replace,
            _ => Locals::Append,
        }
    }
}

/// Verification types, as bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Types<'a> {
    count: u16,
    bytes: &'a [u8],
}

impl<'a> Types<'a> {
    fn read(cursor: &mut Cursor<'a>, count: u16) -> Result<Self, Reason> {
        let start = *cursor;
        for _ in 0..count {
            match cursor.u1()? {
                0..=UNINITIALIZED_THIS => {}
                OBJECT | UNINITIALIZED => {
                    cursor.u2()?;
                }
                _ => return Err(Reason::NotUnderstood),
            }
        }
        Ok(Self {
            count,
            bytes: cursor.since(&start),
        })
    }

    /// Tag and operand of each type; 0 if it has no operand.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u8, u16)> + 'a {
        let mut cursor = Cursor::new(self.bytes);
        std::iter::from_fn(move || {
            let tag = cursor.u1().ok()?;
            let operand = match tag {
                OBJECT | UNINITIALIZED => cursor.u2().ok()?,
                _ => 0,
            };
            Some((tag, operand))
        })
    }

    /// Writes the types. An uninitialized object gets the new position of its `new`.
    fn write(&self, layout: &Layout, out: &mut Vec<u8>) -> Result<(), Reason> {
        for (tag, operand) in self.iter() {
            out.put_u1(tag);
            match tag {
                OBJECT => out.put_u2(operand),
                UNINITIALIZED => {
                    let index = layout.program.index(usize::from(operand))?;
                    out.put_u2(layout.itself(index)?);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The frames of a table, in order.
#[derive(Debug)]
pub(crate) struct Frames<'a> {
    cursor: Cursor<'a>,
    left: u16,
    /// The lowest position of the next frame.
    least: usize,
}

impl<'a> Frames<'a> {
    /// Parses the frames in the body of the attribute.
    pub(crate) fn read(body: &'a [u8]) -> Result<Self, Reason> {
        let mut cursor = Cursor::new(body);
        Ok(Self {
            left: cursor.u2()?,
            cursor,
            least: 0,
        })
    }

    fn frame(&mut self) -> Result<Frame<'a>, Reason> {
        let cursor = &mut self.cursor;
        let tag = cursor.u1()?;
        let mut locals = Types::default();
        let mut stack = Types::default();
        let delta = match tag {
            0..=SAME_MOST => u16::from(tag),
            ONE_STACK_FIRST..=ONE_STACK_MOST => {
                stack = Types::read(cursor, 1)?;
                u16::from(tag - ONE_STACK_FIRST)
            }
            ONE_STACK_EXTENDED..=FULL => cursor.u2()?,
            _ => return Err(Reason::NotUnderstood),
        };
        match tag {
            ONE_STACK_EXTENDED => stack = Types::read(cursor, 1)?,
            252..=254 => locals = Types::read(cursor, u16::from(tag - SAME_EXTENDED))?,
            FULL => {
                let count = cursor.u2()?;
                locals = Types::read(cursor, count)?;
                let count = cursor.u2()?;
                stack = Types::read(cursor, count)?;
            }
            _ => {}
        }
        let at = self.least + usize::from(delta);
        self.least = at + 1;
        Ok(Frame {
            tag,
            at,
            locals,
            stack,
        })
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Frame<'a>, Reason>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        Some(self.frame())
    }
}

/// Writes frames at their new positions.
#[derive(Debug)]
pub(crate) struct FrameWriter<'a> {
    out: &'a mut Vec<u8>,
    count_at: usize,
    count: u16,
    /// The lowest position of the next frame.
    least: u16,
}

impl<'a> FrameWriter<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        let count_at = out.len();
        out.put_u2(0);
        Self {
            out,
            count_at,
            count: 0,
            least: 0,
        }
    }

    /// The distance of a frame from the one before.
    fn delta(&mut self, at: u16) -> Result<u16, Reason> {
        let delta = at.checked_sub(self.least).ok_or(Reason::NotUnderstood)?;
        self.least = at.checked_add(1).ok_or(Reason::TooBig)?;
        self.count = self.count.checked_add(1).ok_or(Reason::TooBig)?;
        Ok(delta)
    }

    /// Copies all frames of the old table.
    pub(crate) fn copy(&mut self, layout: &Layout, body: &[u8]) -> Result<(), Reason> {
        for frame in Frames::read(body)? {
            let frame = frame?;
            let delta = self.delta(layout.start(layout.program.index(frame.at)?)?)?;
            self.head(&frame, delta);
            if frame.tag == FULL {
                self.out.put_u2(frame.locals.count);
            }
            frame.locals.write(layout, self.out)?;
            if frame.tag == FULL {
                self.out.put_u2(frame.stack.count);
            }
            frame.stack.write(layout, self.out)?;
        }
        Ok(())
    }

    /// Writes the tag and the distance. A short frame whose distance no longer fits gets its long
    /// form.
    fn head(&mut self, frame: &Frame<'_>, delta: u16) {
        let short = u8::try_from(delta).ok().filter(|d| *d <= SAME_MOST);
        match (frame.tag, short) {
            (0..=SAME_MOST, Some(delta)) => self.out.put_u1(delta),
            (ONE_STACK_FIRST..=ONE_STACK_MOST, Some(delta)) => {
                self.out.put_u1(ONE_STACK_FIRST + delta);
            }
            (tag, _) => {
                self.out.put_u1(match tag {
                    0..=SAME_MOST => SAME_EXTENDED,
                    ONE_STACK_FIRST..=ONE_STACK_MOST => ONE_STACK_EXTENDED,
                    tag => tag,
                });
                self.out.put_u2(delta);
            }
        }
    }

    /// Writes a frame equal to the one before; the first frames equal the method's initial one.
    pub(crate) fn same(&mut self, at: u16) -> Result<(), Reason> {
        let delta = self.delta(at)?;
        self.out.put_u1(SAME_EXTENDED);
        self.out.put_u2(delta);
        Ok(())
    }

    /// Writes the frame of a handler that needs no local variable.
    pub(crate) fn handler(&mut self, at: u16, throwable: u16) -> Result<(), Reason> {
        let delta = self.delta(at)?;
        self.out.put_u1(FULL);
        self.out.put_u2(delta);
        self.out.put_u2(0);
        self.out.put_u2(1);
        self.out.put_u1(OBJECT);
        self.out.put_u2(throwable);
        Ok(())
    }

    pub(crate) fn finish(self) {
        self.out.patch_u2(self.count_at, self.count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opcode::RETURN;
    use crate::snippet::Snippets;

    fn rewritten(code: &[u8], entry: usize, body: &[u8]) -> Vec<u8> {
        let snippets = Snippets {
            entry: vec![0; entry],
            ..Snippets::default()
        };
        let mut layout = Layout::default();
        layout.program.read(code).unwrap();
        layout.place(code, &snippets).unwrap();
        let mut out = Vec::new();
        let mut frames = FrameWriter::new(&mut out);
        frames.copy(&layout, body).unwrap();
        frames.handler(layout.end(), 0x1234).unwrap();
        frames.finish();
        out
    }

    const HANDLER: [u8; 6] = [0, 0, 0, 1, 7, 0x12];

    #[test]
    fn short_frames_become_long_ones_at_64() {
        let mut code = vec![0; 64];
        code.push(RETURN);
        for (tag, long, types) in [(60, 251, &[][..]), (64 + 60, 247, &[1])] {
            let body = [&[0, 1, tag], types].concat();
            let tail = |delta: u8| [&[255, 0, delta][..], &HANDLER, &[0x34]].concat();
            let short = rewritten(&code, 3, &body);
            assert_eq!(short, [&[0, 2, tag + 3], types, &tail(4)].concat());
            let wide = rewritten(&code, 4, &body);
            assert_eq!(wide, [&[0, 2, long, 0, 64], types, &tail(4)].concat());
        }
    }

    #[test]
    fn every_kind_of_frame_comes_out_as_it_went_in() {
        let code = [0, 0, 0, 0, 0, 0, 0, 0, RETURN];
        let body = [
            0, 8, 0, 64, 7, 0, 1, 247, 0, 0, 8, 0, 2, 248, 0, 0, 251, 0, 0, 253, 0, 0, 1, 7, 0, 9,
            255, 0, 0, 0, 1, 6, 0, 2, 8, 0, 0, 1, 0,
        ];
        let out = rewritten(&code, 0, &body);
        let mut expected = body.to_vec();
        expected[1] = 9;
        expected.extend([255, 0, 1]);
        expected.extend(HANDLER);
        expected.push(0x34);
        assert_eq!(out, expected);
    }

    #[test]
    fn a_frame_of_the_future_is_not_understood() {
        let mut frames = Frames::read(&[0, 1, 246]).unwrap();
        assert!(frames.next().unwrap().is_err());
    }
}
