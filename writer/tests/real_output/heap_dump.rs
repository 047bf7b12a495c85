//! The lines of a heap dump, read and written again.

use super::*;
use writer::text::*;

pub(super) fn put_root(line: &str, out: &mut Out) {
    let held = between(line, "ROOT ", " ");
    if held == "0" {
        // The old agent's stand-in for threads it does not know; we need none.
        return out.extend_from_slice(format!("{line}\n").as_bytes());
    }
    let held = object(held);
    let of_thread = |end| thread(between(line, "thread=", end));
    let in_frame = || {
        let frame = between(line, "frame=", ")");
        (of_thread(","), (frame != "-1").then(|| number(frame)))
    };
    let name;
    let root = match between(line, "kind=<", ">") {
        "thread" => RootLine::Thread(
            held,
            thread(between(line, "id=", ",")),
            trace(between(line, "trace=", ")")),
        ),
        "thread block" => RootLine::ThreadBlock(held, of_thread(")")),
        "Java stack" => RootLine::JavaStack(held, in_frame().0, in_frame().1),
        "JNI local ref" => RootLine::JniLocal(held, in_frame().0, in_frame().1),
        "JNI global ref" => RootLine::JniGlobal(
            held,
            object(between(line, "id=", ",")).get(),
            trace(between(line, "trace=", ")")),
        ),
        "system class" => {
            name = signature(between(line, "name=", ")"));
            RootLine::SystemClass(held, ClassName::from_signature(&name))
        }
        "busy monitor" => RootLine::BusyMonitor(held),
        "unknown" => RootLine::Unknown(held),
        other => panic!("{other}"),
    };
    root.encode(out).unwrap();
}

pub(super) fn put_instance(line: &str, lines: &mut Lines<'_>, out: &mut Out) {
    let name = signature(between(line, "class=", "@"));
    InstanceLine {
        object: object(between(line, "OBJ ", " ")),
        size_bytes: number(between(line, "sz=", ",")),
        trace: trace(between(line, "trace=", ",")),
        class: ClassName::from_signature(&name),
        class_object: object(between(line, "@", ")")),
    }
    .encode(out)
    .unwrap();
    for field in lines.while_next(|line| line.starts_with('\t')) {
        let words: Vec<&str> = field.split_whitespace().collect();
        FieldLine {
            name: words[0].as_bytes(),
            value: Some(object(words[1])),
        }
        .encode(out)
        .unwrap();
    }
}

pub(super) fn put_array(line: &str, lines: &mut Lines<'_>, out: &mut Out) {
    let of_objects = line.contains('@');
    let name = between(line, "elem type=", if of_objects { "@" } else { ")" });
    let name = signature(name);
    ArrayLine {
        object: object(between(line, "ARR ", " ")),
        size_bytes: number(between(line, "sz=", ",")),
        trace: trace(between(line, "trace=", ",")),
        elements: number(between(line, "nelems=", ",")),
        class: ClassName::from_signature(&name),
        class_object: of_objects.then(|| object(between(line, "@", ")"))),
    }
    .encode(out)
    .unwrap();
    for element in lines.while_next(|line| line.starts_with('\t')) {
        ElementLine {
            index: number(between(element, "[", "]")),
            value: Some(object(element.rsplit_once('\t').unwrap().1)),
        }
        .encode(out)
        .unwrap();
    }
}

pub(super) fn put_class(line: &str, lines: &mut Lines<'_>, out: &mut Out) {
    let rows = lines.while_next(|line| line.starts_with('\t'));
    let value = |row: &str| Some(object(row.rsplit_once('\t').unwrap().1));
    let linked = |name: &str| {
        let mut found = rows
            .iter()
            .filter(|row| row.starts_with(&format!("\t{name}\t\t")));
        found.next().and_then(|row| value(row))
    };
    let name = signature(between(line, "name=", ","));
    ClassLine {
        object: object(between(line, "CLS ", " ")),
        name: ClassName::from_signature(&name),
        trace: trace(between(line, "trace=", ")")),
        super_class: linked("super"),
        loader: linked("loader"),
        signers: linked("signers"),
        protection_domain: linked("domain"),
    }
    .encode(out)
    .unwrap();
    for row in rows.iter().filter(|row| row.starts_with("\tstatic ")) {
        let name = between(row, "static ", "\t").as_bytes();
        let value = value(row);
        StaticLine { name, value }.encode(out).unwrap();
    }
    for row in rows.iter().filter(|row| row.starts_with("\tconstant ")) {
        let index = number(between(row, "entry ", "\t"));
        let value = value(row);
        ConstantLine { index, value }.encode(out).unwrap();
    }
}
