//! The stream of counts: how many objects each class of a running JVM has, from the agent to the
//! command.
//!
//! A header, then for each class u8 loader, u8 instances, u8 bytes, u4 length, name in UTF-8.

/// First bytes of the stream. The number is the version.
const HEADER: &[u8] = b"HPROF-RS COUNTS 1\0";

/// The objects of one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedClass {
    /// The name, as in Java source.
    pub class: String,
    /// Id of the class's loader, 0 for the bootstrap loader.
    pub loader: u64,
    /// Number of objects.
    pub instances: u64,
    /// Their bytes in the heap.
    pub bytes: u64,
}

impl CountedClass {
    /// The stream of these classes, without an end.
    pub fn encode(classes: &[Self]) -> Vec<u8> {
        let mut stream = HEADER.to_vec();
        for class in classes {
            for number in [class.loader, class.instances, class.bytes] {
                stream.extend(number.to_be_bytes());
            }
            // A class file has no longer name than 65,535 bytes.
            let length = u32::try_from(class.class.len()).unwrap_or(u32::MAX);
            stream.extend(length.to_be_bytes());
            stream.extend(class.class.as_bytes());
        }
        stream
    }

    /// The classes of a stream without its end; `None` if it is one of another version, or none.
    pub fn decode(stream: &[u8]) -> Option<Vec<Self>> {
        let mut rest = stream.strip_prefix(HEADER)?;
        let mut classes = Vec::new();
        while !rest.is_empty() {
            let mut number = || {
                let (number, after) = rest.split_first_chunk()?;
                rest = after;
                Some(u64::from_be_bytes(*number))
            };
            let (loader, instances, bytes) = (number()?, number()?, number()?);
            let (length, after) = rest.split_first_chunk()?;
            let length = u32::from_be_bytes(*length) as usize;
            let (name, after) = after.split_at_checked(length)?;
            rest = after;
            classes.push(Self {
                class: String::from_utf8(name.to_vec()).ok()?,
                loader,
                instances,
                bytes,
            });
        }
        Some(classes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(
            rows in prop::collection::vec(any::<(String, u64, u64, u64)>(), 0..5),
            cut in 1_usize..30,
        ) {
            let classes: Vec<_> = rows.into_iter().map(|(class, loader, instances, bytes)| CountedClass {
                class,
                loader,
                instances,
                bytes,
            }).collect();
            let stream = CountedClass::encode(&classes);
            let part = stream.get(..stream.len() - cut.min(stream.len()));
            let found = part.and_then(CountedClass::decode);
            prop_assert_ne!(found.as_ref(), Some(&classes));
            prop_assert_eq!(CountedClass::decode(&stream), Some(classes));
        }

        #[test]
        fn nonsense_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let stream = [HEADER, bytes.as_slice()].concat();
            let _ = CountedClass::decode(&stream);
        }
    }

    #[test]
    fn another_version_is_not_decoded() {
        assert_eq!(CountedClass::decode(b"HPROF-RS COUNTS 2\0"), None);
        assert_eq!(CountedClass::decode(b""), None);
    }
}
