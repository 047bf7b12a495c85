//! Parses the lines of a heap dump and writes them again.

use super::*;
use format::{BasicType, NO_FRAME};
use reader::{ClassDump, Instance, ObjectArray, PrimitiveArray, Root, RootKind};
use text::heap_line;

/// An id, which is hexadecimal.
fn id(hex: &str) -> u64 {
    u64::from_str_radix(hex.trim(), 16).expect(hex)
}

pub(super) fn put_root(line: &str, out: &mut Out) {
    let object = id(between(line, "ROOT ", " "));
    if object == 0 {
        // The old agent's stand-in for unknown threads; ours has none.
        return out.extend_from_slice(format!("{line}\n").as_bytes());
    }
    let kind = match between(line, "kind=<", ">") {
        "thread" => RootKind::ThreadObject,
        "thread block" => RootKind::ThreadBlock,
        "Java stack" => RootKind::JavaFrame,
        "JNI local ref" => RootKind::JniLocal,
        "JNI global ref" => RootKind::JniGlobal,
        "system class" => RootKind::StickyClass,
        "busy monitor" => RootKind::MonitorUsed,
        "unknown" => RootKind::Unknown,
        other => panic!("{other}"),
    };
    let word = |start: &str| {
        let (_, after) = line.split_once(start)?;
        Some(after.split([',', ')']).next().expect(line))
    };
    let is_thread = kind == RootKind::ThreadObject;
    let thread = word(if is_thread { "id=" } else { "thread=" });
    let root = Root {
        kind,
        object,
        thread_serial: thread.map(number),
        trace: word("trace=").map(number),
        frame_number: word("frame=").map(|frame| frame.parse().unwrap_or(NO_FRAME)),
        reference: (kind == RootKind::JniGlobal).then(|| id(between(line, "id=", ","))),
    };
    let name = word("name=").map(signature).unwrap_or_default();
    heap_line::root(&root, ClassName::from_signature(&name), out).unwrap();
}

pub(super) fn put_instance(line: &str, lines: &mut Lines<'_>, out: &mut Out) {
    let name = signature(between(line, "class=", "@"));
    let instance = Instance {
        object: id(between(line, "OBJ ", " ")),
        trace: number(between(line, "trace=", ",")),
        class: id(between(line, "@", ")")),
        data_bytes: 0,
    };
    let size_bytes = number(between(line, "sz=", ","));
    heap_line::instance(&instance, size_bytes, ClassName::from_signature(&name), out).unwrap();
    for field in lines.while_next(|line| line.starts_with('\t')) {
        let words: Vec<&str> = field.split_whitespace().collect();
        heap_line::field(words[0].as_bytes(), id(words[1]), out).unwrap();
    }
}

pub(super) fn put_array(line: &str, lines: &mut Lines<'_>, out: &mut Out) {
    let of_objects = line.contains('@');
    let name = between(line, "elem type=", if of_objects { "@" } else { ")" });
    let name = signature(name);
    let (object, trace) = (
        id(between(line, "ARR ", " ")),
        number(between(line, "trace=", ",")),
    );
    let (size_bytes, length) = (
        number(between(line, "sz=", ",")),
        number(between(line, "nelems=", ",")),
    );
    if of_objects {
        let array = ObjectArray {
            object,
            trace,
            length,
            class: id(between(line, "@", ")")),
        };
        heap_line::object_array(&array, size_bytes, ClassName::from_signature(&name), out)
    } else {
        let array = PrimitiveArray {
            object,
            trace,
            length,
            kind: BasicType::from_descriptor(name[1]).unwrap(),
            has_data: true,
        };
        heap_line::primitive_array(&array, size_bytes, out)
    }
    .unwrap();
    for element in lines.while_next(|line| line.starts_with('\t')) {
        let value = id(element.rsplit_once('\t').unwrap().1);
        heap_line::element(number(between(element, "[", "]")), value, out).unwrap();
    }
}

pub(super) fn put_class(line: &str, lines: &mut Lines<'_>, out: &mut Out) {
    let rows = lines.while_next(|line| line.starts_with('\t'));
    let value = |row: &str| id(row.rsplit_once('\t').unwrap().1);
    let linked = |name: &str| {
        let start = format!("\t{name}\t\t");
        let mut found = rows.iter().filter(|row| row.starts_with(&start));
        found.next().map_or(0, |row| value(row))
    };
    let name = signature(between(line, "name=", ","));
    let class = ClassDump {
        class: id(between(line, "CLS ", " ")),
        trace: number(between(line, "trace=", ")")),
        super_class: linked("super"),
        loader: linked("loader"),
        signers: linked("signers"),
        protection_domain: linked("domain"),
        instance_bytes: 0,
        constants: Vec::new(),
        statics: Vec::new(),
        fields: Vec::new(),
    };
    heap_line::class(&class, ClassName::from_signature(&name), out).unwrap();
    for row in rows.iter().filter(|row| row.starts_with("\tstatic ")) {
        let name = between(row, "static ", "\t").as_bytes();
        heap_line::static_field(name, value(row), out).unwrap();
    }
    for row in rows.iter().filter(|row| row.starts_with("\tconstant ")) {
        let index = number(between(row, "entry ", "\t"));
        heap_line::constant(index, value(row), out).unwrap();
    }
}
