//! Class names as Java programs print them.

use format::BasicType;

/// Turns a name of a LOAD CLASS record into Java's form: `java/lang/String` into `java.lang.String`,
/// `[I` into `int[]`, `[[Ljava/lang/Object;` into `java.lang.Object[][]`.
///
/// The suffix of a hidden class, `+0x…`, becomes `/0x…` as in HotSpot's own lists. What is no such name stays as it is.
pub fn java_name(internal: &str) -> String {
    let element = internal.trim_start_matches('[');
    let dimensions = internal.len() - element.len();
    if dimensions == 0 {
        return dotted(element);
    }
    let Some(mut name) = element_name(element) else {
        return dotted(internal);
    };
    for _ in 0..dimensions {
        name.push_str("[]");
    }
    name
}

/// The internal name of the class of arrays of this type; for references that of `java.lang.Object[]`.
pub fn primitive_array_name(kind: BasicType) -> &'static str {
    match kind {
        BasicType::Object => "[Ljava/lang/Object;",
        BasicType::Boolean => "[Z",
        BasicType::Char => "[C",
        BasicType::Float => "[F",
        BasicType::Double => "[D",
        BasicType::Byte => "[B",
        BasicType::Short => "[S",
        BasicType::Int => "[I",
        BasicType::Long => "[J",
    }
}

fn element_name(descriptor: &str) -> Option<String> {
    if let Some(class) = descriptor.strip_prefix('L') {
        return class.strip_suffix(';').map(dotted);
    }
    let primitive = match descriptor {
        "Z" => "boolean",
        "C" => "char",
        "F" => "float",
        "D" => "double",
        "B" => "byte",
        "S" => "short",
        "I" => "int",
        "J" => "long",
        _ => return None,
    };
    Some(primitive.to_owned())
}

fn dotted(name: &str) -> String {
    let dotted = name.replace('/', ".");
    match dotted.rfind("+0x") {
        Some(plus) => {
            let (class, suffix) = dotted.split_at(plus);
            format!("{class}/{}", suffix.trim_start_matches('+'))
        }
        None => dotted,
    }
}

#[cfg(test)]
mod tests {
    use super::java_name;

    #[test]
    fn names_take_javas_form() {
        for (internal, java) in [
            ("java/lang/String", "java.lang.String"),
            ("[I", "int[]"),
            ("[[Ljava/lang/Object;", "java.lang.Object[][]"),
            ("a/B$$Lambda+0x00007f", "a.B$$Lambda/0x00007f"),
            ("[La/B+0x1;", "a.B/0x1[]"),
            ("[", "["),
            ("[X", "[X"),
            ("", ""),
        ] {
            assert_eq!(java_name(internal), java);
        }
    }
}
