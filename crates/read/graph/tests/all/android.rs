//! What Android has given up is found if a strong reference keeps it.

use graph::{AndroidLeak, GivenUp, Heap, Input, Options};
use sample::Dump;

const ACTIVITY: u64 = 0x2000;
const MAIN: u64 = 0x2010;
const FRAGMENT: u64 = 0x2020;
const REFERENCE: u64 = 0x2030;
const KEYED: u64 = 0x2040;

/// Objects of these classes; `kept` are held by a root.
fn leaks(objects: impl FnOnce(&mut Dump), kept: &[u64]) -> Vec<(u64, GivenUp)> {
    let mut dump = Dump::new(4);
    let class = |dump: &mut Dump, id, name: &str, above, fields: &[(&str, u8)]| {
        dump.class_of(id, name, (above, 0), fields, &[]);
    };
    let destroyed = [("mDestroyed", 4), ("mToken", 2)];
    class(
        &mut dump,
        ACTIVITY,
        "android.app.Activity",
        Dump::OBJECT,
        &destroyed,
    );
    class(&mut dump, MAIN, "app.Main", ACTIVITY, &[("view", 2)]);
    let manager = [("mFragmentManager", 2)];
    class(
        &mut dump,
        FRAGMENT,
        "androidx.fragment.app.Fragment",
        Dump::OBJECT,
        &manager,
    );
    class(
        &mut dump,
        REFERENCE,
        "java.lang.ref.Reference",
        Dump::OBJECT,
        &[("referent", 2)],
    );
    let missed = [("retainedUptimeMillis", 11)];
    class(
        &mut dump,
        KEYED,
        "leakcanary.KeyedWeakReference",
        REFERENCE,
        &missed,
    );
    objects(&mut dump);
    dump.object_array(0x9000, kept);
    dump.root(0x9000);
    let input = Input::new(dump.file(false), &|_| ()).unwrap();
    let heap = Heap::read(input, Options::default()).unwrap();
    let found = heap.android_leaks().unwrap().into_iter();
    found
        .map(|AndroidLeak { object, why }| (heap.id(object), why))
        .collect()
}

/// An activity: a view, whether it is destroyed, a token.
fn activity(dump: &mut Dump, id: u64, is_destroyed: bool) {
    dump.instance_with(id, MAIN, &[(4, 0), (1, is_destroyed.into()), (4, 0)]);
}

/// LeakCanary's reference to an object, and when it was missed.
fn watch(dump: &mut Dump, id: u64, object: u64, missed: u64) {
    dump.instance_with(id, KEYED, &[(8, missed), (4, object)]);
}

#[test]
fn destroyed_activities_and_fragments_are_found() {
    let objects = |dump: &mut Dump| {
        activity(dump, 0x3000, true);
        activity(dump, 0x3010, false);
        activity(dump, 0x3020, true);
        dump.instance(0x3030, FRAGMENT, &[0]);
        dump.instance(0x3040, FRAGMENT, &[0x3000]);
    };
    let kept = [0x3000, 0x3010, 0x3030, 0x3040];
    let expected = [
        (0x3000, GivenUp::DestroyedActivity),
        (0x3030, GivenUp::DestroyedFragment),
    ];
    assert_eq!(leaks(objects, &kept), expected);
}

#[test]
fn what_leakcanary_has_missed_is_found_unless_only_it_refers_to_it() {
    let objects = |dump: &mut Dump| {
        for object in [0x3000, 0x3010, 0x3020] {
            dump.instance(object, Dump::OBJECT, &[]);
        }
        activity(dump, 0x3030, true);
        watch(dump, 0x4000, 0x3000, 77);
        watch(dump, 0x4020, 0x3010, u64::MAX);
        watch(dump, 0x4040, 0x3020, 77);
        watch(dump, 0x4060, 0x3030, 77);
        watch(dump, 0x4080, 0, 77);
    };
    let kept = [
        0x3000, 0x3010, 0x3030, 0x4000, 0x4020, 0x4040, 0x4060, 0x4080,
    ];
    let expected = [
        (0x3000, GivenUp::Watched),
        (0x3030, GivenUp::DestroyedActivity),
    ];
    assert_eq!(leaks(objects, &kept), expected);
}

#[test]
fn other_heaps_have_none() {
    let input = Input::new(Dump::new(8).file(false), &|_| ()).unwrap();
    let heap = Heap::read(input, Options::default()).unwrap();
    assert_eq!(heap.android_leaks().unwrap(), []);
}
