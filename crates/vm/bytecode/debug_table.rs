//! Rewrites the tables for debuggers: line numbers and local variables (4.7.12 to 4.7.14).
//!
//! The JVM does not check their code positions, so one inside an instruction counts as that
//! instruction.

use crate::bytes::Bytes;
use crate::cursor::Cursor;
use crate::error::Reason;
use crate::layout::Layout;

/// The new position of an old one. The start of the method stays the start, before all inserted
/// code.
fn place(layout: &Layout, at: u16) -> Result<u16, Reason> {
    if at == 0 {
        return Ok(0);
    }
    layout.start(layout.program.index_around(usize::from(at))?)
}

/// `LineNumberTable`.
pub(crate) fn line_numbers(layout: &Layout, body: &[u8], out: &mut Vec<u8>) -> Result<(), Reason> {
    rows(body, out, |cursor, out| {
        out.put_u2(place(layout, cursor.u2()?)?);
        out.put_u2(cursor.u2()?);
        Ok(())
    })
}

/// Rewrites a table: the number of rows, the rows, and any bytes after them.
pub(crate) fn rows<'b>(
    body: &'b [u8],
    out: &mut Vec<u8>,
    mut row: impl FnMut(&mut Cursor<'b>, &mut Vec<u8>) -> Result<(), Reason>,
) -> Result<(), Reason> {
    let mut cursor = Cursor::new(body);
    let count = cursor.u2()?;
    out.put_u2(count);
    for _ in 0..count {
        row(&mut cursor, out)?;
    }
    out.put(cursor.rest());
    Ok(())
}

/// `LocalVariableTable` and `LocalVariableTypeTable`.
pub(crate) fn local_variables(
    layout: &Layout,
    body: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), Reason> {
    rows(body, out, |cursor, out| {
        range(layout, cursor, out)?;
        out.put(cursor.take(6)?);
        Ok(())
    })
}

/// A range as start and length.
pub(crate) fn range(
    layout: &Layout,
    cursor: &mut Cursor<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Reason> {
    let start = cursor.u2()?;
    let length = cursor.u2()?;
    let end = start.checked_add(length).ok_or(Reason::NotUnderstood)?;
    let new_start = place(layout, start)?;
    // An empty range stays empty, even at the start.
    let new_end = if length == 0 {
        new_start
    } else {
        place(layout, end)?
    };
    out.put_u2(new_start);
    out.put_u2(new_end.saturating_sub(new_start));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opcode::{BIPUSH, RETURN};
    use crate::snippet::Snippets;

    /// 0: bipush, 2: return, with 4 bytes at the entry and 5 before the return.
    fn example() -> Layout {
        let code = [BIPUSH, 1, RETURN];
        let snippets = Snippets {
            entry: vec![0; 4],
            before_return: vec![0; 5],
            ..Snippets::default()
        };
        let mut layout = Layout::default();
        layout.program.read(&code).unwrap();
        layout.place(&code, &snippets).unwrap();
        layout
    }

    #[test]
    fn the_first_line_has_the_entry_and_the_last_what_is_before_the_return() {
        let layout = example();
        let mut out = Vec::new();
        let body = [0, 3, 0, 0, 0, 10, 0, 1, 0, 11, 0, 2, 0, 12];
        line_numbers(&layout, &body, &mut out).unwrap();
        assert_eq!(out, [0, 3, 0, 0, 0, 10, 0, 4, 0, 11, 0, 6, 0, 12]);
    }

    #[test]
    fn a_variable_of_the_whole_method_stays_one() {
        let layout = example();
        let mut out = Vec::new();
        let body = [
            0, 2, 0, 0, 0, 3, 0, 7, 0, 8, 0, 0, 0, 2, 0, 1, 0, 7, 0, 8, 0, 1,
        ];
        local_variables(&layout, &body, &mut out).unwrap();
        let expected = [
            0, 2, 0, 0, 0, 12, 0, 7, 0, 8, 0, 0, 0, 6, 0, 6, 0, 7, 0, 8, 0, 1,
        ];
        assert_eq!(out, expected);
    }
}
