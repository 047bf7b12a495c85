//! The rules for a sound file, each with its name and its reason.

use super::origin::Origin;

/// How much a broken rule matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The data is wrong, or a commonly used reader cannot read it.
    Error,
    /// A well-known writer breaks the rule, but its dumps can be read.
    Note,
}

/// Well-known writers that break a rule, although readers cope with their files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Habit {
    /// None: always an error.
    Nobody,
    /// HotSpot's own dumps.
    HotSpot,
    /// The HPROF agent of JDK 8 and earlier.
    JdkAgent,
    /// HotSpot's own dumps and the JDK's HPROF agent.
    Jdk,
    /// Android.
    Android,
    /// GraalVM's native images.
    NativeImage,
    /// Many writers: always a note.
    Many,
}

impl Habit {
    /// The best known writer with this habit.
    fn writer(self) -> Option<&'static str> {
        Some(match self {
            Self::Nobody | Self::Many => return None,
            Self::HotSpot | Self::Jdk => Origin::HotSpot.name(),
            Self::JdkAgent => Origin::JdkAgent.name(),
            Self::Android => Origin::Android.name(),
            Self::NativeImage => Origin::NativeImage.name(),
        })
    }

    /// Whether a file of this origin may break the rule. Those of Android, of native images and of
    /// unknown writers may break any that a writer is known for.
    fn excuses(self, origin: Origin) -> bool {
        match (self, origin) {
            (Self::Many, _) => true,
            (Self::Nobody, _) | (_, Origin::HprofRs) => false,
            (_, Origin::Android | Origin::NativeImage | Origin::Unknown) => true,
            (Self::HotSpot | Self::Jdk, Origin::HotSpot) => true,
            (Self::JdkAgent | Self::Jdk, Origin::JdkAgent) => true,
            (_, Origin::HotSpot | Origin::JdkAgent) => false,
        }
    }
}

/// One row of the list: the variant, its name, the writer that breaks it, and what a breach means.
macro_rules! rules {
    ($($variant:ident, $id:literal, $habit:ident, $meaning:literal;)*) => {
        /// A rule for sound files.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Rule {
            $(#[doc = $meaning] $variant,)*
        }

        impl Rule {
            /// Every rule, in the order of the list.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];
        }

        const ROWS: &[(&str, Habit, &str)] = &[$(($id, Habit::$habit, $meaning)),*];
    };
}

rules! {
    // Bytes.
    Truncated, "truncated-file", Nobody, "The file ends inside a record.";
    TrailingBytes, "trailing-bytes", Nobody, "Behind HEAP DUMP END stand bytes that are no record.";
    UnknownRecord, "unknown-record", Nobody, "A record's tag is not in the format text; most readers refuse the file.";
    RecordTooShort, "record-too-short", Nobody, "A record's length is smaller than its fields need.";
    RecordTooLong, "record-too-long", Nobody, "Bytes are left in a record after its last field.";
    UnknownHeapRecord, "unknown-heap-record", Nobody, "A sub-record's tag is not in the format text; every reader refuses the file.";
    UnknownType, "unknown-type", Nobody, "A basic type's number is unknown or not allowed in its place.";
    HeapRecordCut, "heap-record-cut", Nobody, "A sub-record runs over the end of its heap dump record.";
    HeapLengthZero, "heap-length-zero", Nobody, "A heap dump record has length 0, yet sub-records follow.";
    HeapLengthShort, "heap-length-short", Nobody, "A heap dump record is longer than its length; some readers stop there.";
    // The sequence of records.
    AndroidVersion, "android-version", Android, "Version 1.0.3 is Android's; MAT and others refuse it.";
    AndroidRecord, "android-record", Android, "A sub-record that only Android writes; MAT and others refuse it.";
    RecordTime, "record-time", JdkAgent, "A record's time is not 0; MAT takes a step backwards for 71.6 minutes.";
    NoHeap, "no-heap", Nobody, "The file holds no heap dump, samples, sites, summary or stacks.";
    StacksAlone, "stacks-alone", Many, "Frames and traces, and nothing that refers to them.";
    NoHeapEnd, "no-heap-end", Nobody, "Segments without a HEAP DUMP END; VisualVM refuses the file.";
    HeapEndLength, "heap-end-length", Nobody, "HEAP DUMP END has a body.";
    HeapEndMisplaced, "heap-end-misplaced", Nobody, "HEAP DUMP END without segments before it, or not after the last of them.";
    EmptySegment, "empty-segment", Nobody, "A heap dump record without sub-records; VisualVM refuses the file.";
    HugeSegment, "huge-segment", Jdk, "A heap dump record of 2 GiB or more; some readers take its length as negative.";
    SegmentVersion, "segment-version", Nobody, "HEAP DUMP SEGMENT in a file of version 1.0.1.";
    MixedDumpKinds, "mixed-dump-kinds", Nobody, "HEAP DUMP and HEAP DUMP SEGMENT in one file.";
    SeveralDumps, "several-dumps", Nobody, "More than one heap dump in the file.";
    RecordBetweenSegments, "record-between-segments", Nobody, "Another record between the first segment and HEAP DUMP END.";
    HeapSummary, "heap-summary-in-dump", JdkAgent, "HEAP SUMMARY beside a heap dump; VisualVM takes its numbers for the heap's.";
    // Strings.
    DuplicateString, "duplicate-string", Nobody, "Two strings with one id.";
    StringIdZero, "string-id-zero", Many, "A string with id 0.";
    StringNotUtf8, "string-not-utf8", Jdk, "A string that is not valid UTF-8.";
    StringTooLong, "string-too-long", Jdk, "A string of 32 KiB or more; VisualVM's window is smaller.";
    StringLate, "string-late", Nobody, "A string that is used before it stands in the file.";
    StringMissing, "string-missing", Nobody, "A string id that no record defines.";
    NameZero, "name-zero", Nobody, "Id 0 as the name of a class, method, field or thread.";
    SourceZero, "source-zero", Jdk, "Id 0 as a frame's source file.";
    // Classes.
    DuplicateLoadClass, "duplicate-load-class", HotSpot, "Two LOAD CLASS for one class.";
    DuplicateClassSerial, "duplicate-class-serial", Nobody, "Two classes with one serial.";
    ClassSerialGap, "class-serial-gap", Jdk, "Class serials are not 1, 2, 3 and so on.";
    LoadClassLate, "load-class-late", Nobody, "LOAD CLASS after the beginning of the heap, or after a frame that names the class.";
    ClassSerialMissing, "class-serial-missing", JdkAgent, "A class serial that no LOAD CLASS defines.";
    ClassNotLoaded, "class-not-loaded", Nobody, "CLASS DUMP without LOAD CLASS: the class has no name.";
    DuplicateClass, "duplicate-class", Nobody, "Two CLASS DUMP for one class.";
    ClassNotDumped, "class-not-dumped", Nobody, "An instance whose class has no CLASS DUMP.";
    ArrayClassMissing, "array-class-missing", Nobody, "An array of references whose class has no CLASS DUMP.";
    PrimitiveClassMissing, "primitive-class-missing", Nobody, "One of the eight primitive array classes is missing.";
    DuplicatePrimitiveClass, "duplicate-primitive-class", Nobody, "Two classes with the name of one primitive array.";
    CoreClassMissing, "core-class-missing", Nobody, "A class that readers need by name is missing.";
    DottedName, "dotted-name", JdkAgent, "Class names with dots; VisualVM and Shark search for java/lang/Object.";
    SuperMissing, "super-missing", Nobody, "The super class has no CLASS DUMP.";
    SuperZero, "super-zero", JdkAgent, "A class other than java.lang.Object without a super class.";
    SuperCycle, "super-cycle", Nobody, "A class is its own super class.";
    InstanceSize, "instance-size", JdkAgent, "A class's instance size is not the sum of its fields and those of its supers.";
    TooManyFields, "too-many-fields", Nobody, "32,768 fields or more; some readers take the count as negative.";
    ConstantPool, "constant-pool", JdkAgent, "A constant pool with entries; almost every reader ignores it.";
    UnloadUnknown, "unload-unknown", JdkAgent, "UNLOAD CLASS of a serial that was never loaded.";
    UnloadedDumped, "unloaded-dumped", Nobody, "UNLOAD CLASS of a class that is in the dump; MAT forgets its name.";
    // Frames and traces.
    DuplicateFrame, "duplicate-frame", Nobody, "Two frames with one id.";
    FrameIdGap, "frame-id-gap", Jdk, "Frame ids are not 1, 2, 3 and so on.";
    FrameLate, "frame-late", Nobody, "A frame that a trace names before it stands in the file.";
    FrameMissing, "frame-missing", Nobody, "A frame id that no record defines.";
    LineNumber, "line-number", Android, "A line number other than above 0, -1, -2 or -3.";
    DuplicateTrace, "duplicate-trace", HotSpot, "Two traces with one serial.";
    TraceSerialGap, "trace-serial-gap", JdkAgent, "Trace serials are not 1, 2, 3 and so on.";
    TraceLate, "trace-late", Nobody, "A trace that is named before it stands in the file.";
    TraceMissing, "trace-missing", JdkAgent, "A trace serial that no record defines.";
    TraceZero, "trace-zero", Android, "Trace serial 0; things without a trace use the empty trace 1.";
    EmptyTraceMissing, "empty-trace-missing", JdkAgent, "Trace 1 is missing, has frames, or names a thread.";
    // Threads.
    DuplicateThread, "duplicate-thread", Nobody, "Two thread roots with one thread serial.";
    ThreadSerialGap, "thread-serial-gap", JdkAgent, "Thread serials are not 1, 2, 3 and so on.";
    ThreadLate, "thread-late", Android, "A frame's root before the root of its thread.";
    ThreadMissing, "thread-missing", JdkAgent, "A thread serial without a thread root.";
    ThreadTraceShared, "thread-trace-shared", Android, "Two traces with one thread serial; MAT takes either for the thread's stack.";
    ThreadTraceMismatch, "thread-trace-mismatch", JdkAgent, "A thread root's trace names another thread.";
    FrameNumber, "frame-number", JdkAgent, "A root's frame number outside its thread's trace.";
    // Profiles.
    SiteType, "site-type", Nobody, "An allocation site's type of array is none.";
    DuplicateSite, "duplicate-site", Nobody, "Two rows of one ALLOC SITES for one class and trace.";
    SiteTotals, "site-totals", Nobody, "The rows of ALLOC SITES sum up to more than its totals.";
    LiveNotAllocated, "live-not-allocated", Nobody, "More is alive than was ever allocated.";
    SiteCutoff, "site-cutoff", JdkAgent, "A cutoff that is no share from 0 to 1; the JDK's agent wrote half a number.";
    DuplicateSample, "duplicate-sample", Nobody, "Two rows of one CPU SAMPLES for one trace.";
    SampleTotal, "sample-total", Nobody, "The rows of CPU SAMPLES sum up to more than its total.";
    ControlFlags, "control-flags", Nobody, "CONTROL SETTINGS with flags other than 1, allocation traces, and 2, CPU samples.";
    // Roots.
    RootUnknown, "root-unknown", JdkAgent, "ROOT UNKNOWN; JOL refuses the file.";
    // HotSpot: of a class whose mirror found no memory (StickyClassDumper in heapDumper.cpp).
    RootZero, "root-zero", Jdk, "A root of object 0.";
    RootDangling, "root-dangling", Jdk, "A root of an object that is not in the file.";
    RootLate, "root-late", HotSpot, "A root after an object; the order is classes, roots, objects.";
    // Objects.
    ClassDumpLate, "class-dump-late", JdkAgent, "CLASS DUMP after a root or an object.";
    ObjectIdZero, "object-id-zero", Nobody, "An object with id 0, which means null.";
    DuplicateObject, "duplicate-object", Nobody, "Two objects with one id.";
    ClassMirrorInstance, "class-mirror-instance", NativeImage, "INSTANCE DUMP of an object that CLASS DUMP describes.";
    InstanceLength, "instance-length", Nobody, "An instance's data is not as long as the fields of its class and supers.";
    BooleanValue, "boolean-value", Nobody, "A boolean other than 0 and 1.";
    UnalignedId, "unaligned-id", Many, "An object id that is no multiple of 8; MAT then guesses sizes wrongly.";
    FieldDangling, "field-dangling", Jdk, "A field that refers to an object that is not in the file.";
    ElementDangling, "element-dangling", Jdk, "An array element that refers to an object that is not in the file.";
    StaticDangling, "static-dangling", Jdk, "A static field that refers to an object that is not in the file.";
    ClassSlotDangling, "class-slot-dangling", Jdk, "A class's loader, signers or protection domain is not in the file.";
}

impl Rule {
    /// The rule's name in reports, in kebab-case.
    pub fn id(self) -> &'static str {
        self.row().0
    }

    /// One sentence: what is wrong if the rule is broken.
    pub fn meaning(self) -> &'static str {
        self.row().2
    }

    /// The severity of a fault in a file of this origin; a strict check excuses no writer.
    pub fn severity(self, origin: Origin, strict: bool) -> Severity {
        let habit = self.row().1;
        if habit == Habit::Many || habit.excuses(origin) && !strict {
            Severity::Note
        } else {
            Severity::Error
        }
    }

    /// The well-known writer that breaks this rule, if there is one: the file's writer, if it is
    /// known.
    pub fn habit(self, origin: Origin) -> Option<&'static str> {
        let habit = self.row().1;
        match origin {
            Origin::Unknown => habit.writer(),
            _ => habit.writer().map(|_| origin.name()),
        }
    }

    fn row(self) -> (&'static str, Habit, &'static str) {
        // One row for each variant, because the macro generates both.
        ROWS.get(self as usize)
            .copied()
            .unwrap_or(("rule", Habit::Nobody, ""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_rule_has_a_name_of_its_own() {
        let names: HashSet<_> = Rule::ALL.iter().map(|rule| rule.id()).collect();
        assert_eq!(names.len(), Rule::ALL.len());
        assert!(names.iter().all(|name| name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')));
    }
}
