//! Rewrites the type annotations of a method's code, some of which contain code positions (4.7.20).

use crate::bytes::Bytes;
use crate::cursor::Cursor;
use crate::debug_table;
use crate::error::Reason;
use crate::layout::Layout;

/// `RuntimeVisibleTypeAnnotations` and `RuntimeInvisibleTypeAnnotations`.
pub(crate) fn type_annotations(
    layout: &Layout,
    body: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), Reason> {
    debug_table::rows(body, out, |cursor, out| {
        target(layout, cursor, out)?;
        let start = *cursor;
        let path_length = usize::from(cursor.u1()?);
        cursor.take(path_length * 2)?;
        skip_annotation(cursor)?;
        out.put(cursor.since(&start));
        Ok(())
    })
}

/// The annotated element (tables 4.7.20-A and B).
fn target(layout: &Layout, cursor: &mut Cursor<'_>, out: &mut Vec<u8>) -> Result<(), Reason> {
    let kind = cursor.u1()?;
    out.put_u1(kind);
    match kind {
        // Local variables, by their live ranges.
        0x40 | 0x41 => {
            let count = cursor.u2()?;
            out.put_u2(count);
            for _ in 0..count {
                debug_table::range(layout, cursor, out)?;
                out.put_u2(cursor.u2()?);
            }
        }
        // An entry of the exception table. Added entries come after the old ones.
        0x42 => out.put_u2(cursor.u2()?),
        // instanceof, new, method references; casts and type arguments.
        0x43..=0x4B => {
            let index = layout.program.index_around(usize::from(cursor.u2()?))?;
            out.put_u2(layout.itself(index)?);
            if kind >= 0x47 {
                out.put_u1(cursor.u1()?);
            }
        }
        _ => return Err(Reason::NotUnderstood),
    }
    Ok(())
}

/// Skips an annotation (4.7.16). Annotations nest, so pending levels are kept in a list.
fn skip_annotation(cursor: &mut Cursor<'_>) -> Result<(), Reason> {
    // For each level, how many values are left, and whether each has a name before it.
    let mut levels = vec![annotation_head(cursor)?];
    while let Some((left, named)) = levels.last_mut() {
        let Some(fewer) = left.checked_sub(1) else {
            levels.pop();
            continue;
        };
        *left = fewer;
        if *named {
            cursor.u2()?;
        }
        match cursor.u1()? {
            b'@' => levels.push(annotation_head(cursor)?),
            b'[' => levels.push((cursor.u2()?, false)),
            b'e' => {
                cursor.u4()?;
            }
            _ => {
                cursor.u2()?;
            }
        }
    }
    Ok(())
}

/// The type of an annotation, and how many named values follow.
fn annotation_head(cursor: &mut Cursor<'_>) -> Result<(u16, bool), Reason> {
    cursor.u2()?;
    Ok((cursor.u2()?, true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opcode::{NEW, RETURN};
    use crate::snippet::Snippets;

    #[test]
    fn places_move_and_the_rest_stays() {
        let code = [NEW, 0, 1, RETURN];
        let snippets = Snippets {
            entry: vec![0; 4],
            before_return: vec![0; 5],
            ..Snippets::default()
        };
        let mut layout = Layout::default();
        layout.program.read(&code).unwrap();
        layout.place(&code, &snippets).unwrap();

        // An annotation with an enum, an array of two ints, an annotation without values.
        let annotation = [
            0, 0, 1, 0, 3, 0, 2, b'e', 0, 1, 0, 1, 0, 2, b'[', 0, 2, b'I', 0, 1, b'I', 0, 2, 0, 3,
            b'@', 0, 9, 0, 0,
        ];
        let with = |targets: [&[u8]; 5]| {
            let mut body = vec![0, 5];
            for target in targets {
                body.extend_from_slice(target);
                body.extend_from_slice(&annotation);
            }
            body
        };
        let old = with([
            &[0x40, 0, 1, 0, 0, 0, 4, 0, 7],
            &[0x41, 0, 1, 0, 3, 0, 1, 0, 7],
            &[0x42, 0, 1],
            &[0x44, 0, 0],
            &[0x47, 0, 3, 5],
        ]);
        let new = with([
            &[0x40, 0, 1, 0, 0, 0, 13, 0, 7],
            &[0x41, 0, 1, 0, 7, 0, 6, 0, 7],
            &[0x42, 0, 1],
            &[0x44, 0, 4],
            &[0x47, 0, 12, 5],
        ]);
        let mut out = Vec::new();
        type_annotations(&layout, &old, &mut out).unwrap();
        assert_eq!(out, new);
    }
}
