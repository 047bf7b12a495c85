//! A compressed dump gives the same answers as an uncompressed one, however its members are cut.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};

use flate2::{write::GzEncoder, Compression};
use graph::{Heap, Input, Options, References, Retained, Waste};
use sample::{file_of, Dump};

const ENTRY: u64 = 0x2000;

/// Arrays of entries with a value each, in many parts: some megabytes.
fn dump() -> Vec<u8> {
    let mut dump = Dump::new(8);
    dump.class(ENTRY, "app/Entry", Dump::OBJECT, 0, &["value", "next"], &[]);
    dump.root(ENTRY);
    for array in 0..200 {
        let base = 0x10_0000 + array * 0x10_0000;
        let entry = |number: u64| base + 0x1_0000 + number * 64;
        for number in 0..50 {
            let value = entry(number) + 32;
            let text: Vec<u8> = (0..600)
                .map(|at| (at * number * (array % 9)) as u8)
                .collect();
            dump.instance(entry(number), ENTRY, &[value, entry((number + 1) % 60)]);
            dump.byte_array(value, &text);
        }
        dump.object_array(base, &(0..50).map(entry).collect::<Vec<u64>>());
        if array % 3 == 0 {
            dump.root(base);
        }
    }
    dump.bytes()
}

/// The file after some other bytes, with members of these lengths.
fn packed(bytes: &[u8], lengths: impl Iterator<Item = usize>) -> File {
    const BEFORE: &[u8] = b"before";
    let (mut packed, mut rest) = (BEFORE.to_vec(), bytes);
    for length in lengths {
        let (member, left) = rest.split_at(length.min(rest.len()));
        rest = left;
        let mut to = GzEncoder::new(&mut packed, Compression::fast());
        to.write_all(member).unwrap();
        to.finish().unwrap();
        if rest.is_empty() {
            break;
        }
    }
    let mut file = file_of(&packed);
    file.seek(SeekFrom::Start(BEFORE.len() as u64)).unwrap();
    file
}

/// The results of everything that reads the file again.
fn told(file: File, threads: usize) -> Vec<String> {
    let options = Options {
        threads,
        by_rule: false,
    };
    let heap = Heap::read(Input::new(file, &|_| {}).unwrap(), options).unwrap();
    let retained = Retained::of(&heap, References::All).unwrap();
    let all: Vec<u32> = (0..heap.objects()).collect();
    let mut lines = vec![format!("{} {}", heap.damaged(), heap.dangling())];
    lines.extend(all.iter().map(|object| {
        let class = heap.class_name(heap.class(*object));
        let (id, targets) = (heap.id(*object), heap.targets(*object));
        format!("{id:#x} {class} {} {targets:?}", retained.bytes(*object))
    }));
    let sought = all.iter().copied().step_by(701).collect::<Vec<u32>>();
    let contents = heap.contents(&sought, 100).unwrap();
    lines.push(format!("{contents:?}"));
    let paths = heap.paths(&sought, 36).unwrap();
    lines.push(format!("{paths:?}"));
    let leaks = crate::trial::leaks_of(&heap, &retained, 1);
    lines.push(format!("{leaks:?}"));
    lines.push(format!("{:?}", Waste::find(&heap, &retained).unwrap()));
    lines
}

#[test]
fn members_of_any_length_give_the_same() {
    let bytes = dump();
    let expected = told(file_of(&bytes), 1);
    assert!(bytes.len() > 4 << 20);
    for length in [70_000, 278_528, 1 << 20, bytes.len()] {
        for threads in [1, 4] {
            let file = packed(&bytes, std::iter::repeat(length));
            assert!(told(file, threads) == expected, "{length} {threads}");
        }
    }
    // Tiny members, none at all, and one with nearly everything.
    let lengths = [1, 1, 0, 100, 70_000, 0, 9].into_iter().cycle().take(50);
    let file = packed(&bytes, lengths.chain([bytes.len()]));
    assert!(told(file, 2) == expected);
}

#[test]
fn a_compressed_file_that_is_cut_gives_what_is_there() {
    let bytes = dump();
    let end = bytes.len() * 2 / 3;
    let file = |length: usize| packed(&bytes[..end], std::iter::repeat(length));
    let expected = told(file(bytes.len()), 1);
    assert!(expected[0].starts_with("1 "));
    for length in [70_000, 1 << 20] {
        assert!(told(file(length), 2) == expected, "{length}");
    }
    // The last member is truncated.
    let file = packed(&bytes, std::iter::repeat(100_000));
    let length = file.metadata().unwrap().len();
    file.set_len(length - 2000).unwrap();
    assert!(told(file, 2).len() > expected.len());
}
