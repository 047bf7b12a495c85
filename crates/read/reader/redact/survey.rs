//! The first passes: names and classes, then the arrays about which fields decide.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::{
    big_endian, Budget, ClassDump, Directory, DumpReader, Event, HeapRecord, IdSet, Instance, Open,
    ReadError, Record,
};
use format::redaction::{FieldRule, Redacted, Redaction};
use format::{record as tag, BasicType};

use super::plan::{Plan, Planner};
use super::result::{next, RedactError};
use format::redaction::Decision;

/// The contents of a file, and their redaction.
#[derive(Debug)]
pub(crate) struct Survey<'s> {
    pub(crate) redaction: &'s Redaction,
    directory: Directory,
    id_bytes: u32,
    budget: Budget,
    /// The texts that are kept, by id; `None` for all.
    pub(crate) names: Option<IdSet>,
    /// The arrays of strings, if only these become zeros.
    strings: IdSet,
    kept: IdSet,
    dropped: IdSet,
    /// Static fields that patterns match: the ids of the names of class and field.
    ruled_statics: Vec<(u64, u64)>,
    plans: RefCell<HashMap<u64, Rc<Plan>>>,
}

impl<'s> Survey<'s> {
    /// The word of an earlier redaction of the dump.
    pub(crate) fn redacted(&self) -> Option<&str> {
        self.directory.strings.facts().redacted()
    }

    /// Reads the file once, and once or twice more if fields decide about arrays.
    pub(crate) fn take(
        open: &mut Open<'_, '_>,
        redaction: &'s Redaction,
        budget: Budget,
    ) -> Result<Self, RedactError> {
        let mut survey = Self {
            redaction,
            directory: Directory::default(),
            id_bytes: 8,
            budget,
            names: (redaction.what == Redacted::All).then(IdSet::default),
            strings: IdSet::default(),
            kept: IdSet::default(),
            dropped: IdSet::default(),
            ruled_statics: Vec::new(),
            plans: RefCell::default(),
        };
        survey.read_names(DumpReader::open(open, budget)?)?;
        let has_rules = !redaction.keep.is_empty() || !redaction.drop.is_empty();
        if redaction.what == Redacted::Strings && !survey.planner().knows_strings() {
            return Err(RedactError::NoStrings);
        }
        if redaction.what == Redacted::Strings || has_rules {
            survey.read_decisions(DumpReader::open(open, budget)?)?;
        }
        if has_rules {
            survey.read_strings(DumpReader::open(open, budget)?)?;
        }
        Ok(survey)
    }

    /// Names and layouts.
    pub(crate) fn planner(&self) -> Planner<'_> {
        Planner {
            redaction: self.redaction,
            strings: &self.directory.strings,
            classes: &self.directory.classes,
        }
    }

    /// The plan for the instances of the class with this id.
    pub(crate) fn plan(&self, class: u64) -> Rc<Plan> {
        let mut plans = self.plans.borrow_mut();
        let plan = plans.entry(class).or_insert_with(|| {
            let index = self.directory.classes.index(class);
            Rc::new(index.map_or_else(Plan::default, |index| self.planner().plan(index)))
        });
        Rc::clone(plan)
    }

    /// The id of the name of the class with this id; 0 if the file does not contain it.
    pub(crate) fn class_name(&self, class: u64) -> u64 {
        let class = self.directory.classes.get(class);
        class.map_or(0, |class| class.name)
    }

    /// Whether the elements of this primitive array are kept.
    pub(crate) fn keeps_elements(&self, array: u64) -> bool {
        let usually = self.redaction.what < Redacted::Arrays && !self.strings.contains(array);
        !self.dropped.contains(array) && (usually || self.kept.contains(array))
    }

    /// The patterns that match no field.
    pub(crate) fn unmatched(&self) -> Vec<String> {
        let (planner, strings) = (self.planner(), &self.directory.strings);
        let mut names = Vec::new();
        for class in self.directory.classes.iter() {
            let name = planner.class_name(class.name).unwrap_or_default();
            let fields = class
                .fields
                .iter()
                .filter_map(|field| strings.bytes(field.name));
            names.extend(fields.map(|field| (name.clone(), field)));
        }
        let statics = self.ruled_statics.iter();
        names.extend(statics.filter_map(|(class, field)| {
            Some((planner.class_name(*class)?, strings.bytes(*field)?))
        }));
        let mut unmatched = Vec::new();
        for patterns in [&self.redaction.keep, &self.redaction.drop] {
            let fields = names.iter().map(|(class, field)| (&**class, *field));
            unmatched.extend(patterns.unmatched(fields));
        }
        unmatched
    }

    fn read_names(&mut self, mut dump: DumpReader<'_>) -> Result<(), RedactError> {
        self.id_bytes = dump.header().id_bytes;
        let (mut is_begun, mut is_ended) = (false, false);
        while let Some(event) = next(&mut dump)? {
            match event {
                Event::Record(head, record) => {
                    is_ended |= head.tag == tag::HEAP_DUMP_END;
                    self.note_names(&record);
                    self.directory.add(record);
                    self.directory.allow(self.budget)?;
                }
                Event::HeapStart(head) => is_begun |= head.tag == tag::HEAP_DUMP_SEGMENT,
                Event::Heap(offset, HeapRecord::Class(class)) => {
                    self.directory.classes.add_dump(offset, &class);
                    self.note_fields(&class);
                    self.directory.allow(self.budget)?;
                }
                Event::Heap(_, HeapRecord::HeapInfo(info)) => self.note(info.name),
                _ => {}
            }
        }
        if is_begun && !is_ended {
            return Err(RedactError::NotEnded);
        }
        self.directory.classes.resolve(self.id_bytes);
        Ok(())
    }

    fn note(&mut self, name: u64) {
        if let Some(names) = &mut self.names {
            names.insert(name);
        }
    }

    fn note_names(&mut self, record: &Record) {
        match record {
            Record::LoadClass(class) => self.note(class.name),
            Record::Frame(frame) => {
                self.note(frame.method);
                self.note(frame.signature);
            }
            _ => {}
        }
    }

    fn note_fields(&mut self, class: &ClassDump) {
        let statics = class.statics.iter().map(|field| field.name);
        let fields = class.fields.iter().map(|field| field.name);
        statics.chain(fields).for_each(|name| self.note(name));
    }

    /// Finds the arrays of strings, and the targets of named fields.
    fn read_decisions(&mut self, mut dump: DumpReader<'_>) -> Result<(), RedactError> {
        let mut data = Vec::new();
        while let Some(event) = next(&mut dump)? {
            match event {
                Event::Heap(_, HeapRecord::Class(class)) => {
                    let name = self.class_name(class.class);
                    for field in &class.statics {
                        let Some(rule) = self.planner().rule(name, field.name) else {
                            continue;
                        };
                        self.ruled_statics.push((name, field.name));
                        if field.kind == BasicType::Object {
                            self.decide(Decision::Rule(rule), field.value);
                        }
                    }
                    self.allow_ids()?;
                }
                Event::Heap(_, HeapRecord::Instance(instance)) => {
                    for (decision, target) in self.targets(&instance, &mut dump, &mut data)? {
                        self.decide(decision, target);
                    }
                    self.allow_ids()?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Applies a decision about a string to its array.
    fn read_strings(&mut self, mut dump: DumpReader<'_>) -> Result<(), RedactError> {
        let mut data = Vec::new();
        while let Some(event) = next(&mut dump)? {
            let Event::Heap(_, HeapRecord::Instance(instance)) = event else {
                continue;
            };
            let string = instance.object;
            let (is_kept, is_dropped) = (self.kept.contains(string), self.dropped.contains(string));
            if !is_kept && !is_dropped {
                continue;
            }
            let targets = self.targets(&instance, &mut dump, &mut data)?;
            for (_, array) in targets.filter(|(decision, _)| *decision == Decision::String) {
                if is_kept {
                    self.kept.insert(array);
                }
                if is_dropped {
                    self.dropped.insert(array);
                }
            }
            self.allow_ids()?;
        }
        Ok(())
    }

    fn decide(&mut self, decision: Decision, target: u64) {
        if target == 0 {
            return;
        }
        match decision {
            Decision::String if self.redaction.what == Redacted::Strings => {
                self.strings.insert(target);
            }
            Decision::String => {}
            Decision::Rule(FieldRule::Keep) => {
                self.kept.insert(target);
            }
            Decision::Rule(FieldRule::Drop) => {
                self.dropped.insert(target);
            }
        }
    }

    /// The decisions of an instance's references, with their targets.
    fn targets(
        &self,
        instance: &Instance,
        dump: &mut DumpReader<'_>,
        data: &mut Vec<u8>,
    ) -> Result<impl Iterator<Item = (Decision, u64)>, ReadError> {
        let plan = self.plan(instance.class);
        data.clear();
        let mut found = Vec::new();
        if !plan.deciding.is_empty() && plan.data_bytes == Some(u64::from(instance.data_bytes)) {
            dump.read_data(data)?;
            for &(at, decision) in &plan.deciding {
                let bytes = data.get(at..at + self.id_bytes as usize);
                found.push((decision, big_endian(bytes.unwrap_or_default())));
            }
        }
        Ok(found.into_iter())
    }

    fn allow_ids(&self) -> Result<(), ReadError> {
        let sets = [&self.strings, &self.kept, &self.dropped];
        let sets: u64 = sets.map(IdSet::held_bytes).iter().sum();
        let statics = size_of_val(self.ruled_statics.as_slice()) as u64;
        self.budget.allow(sets.saturating_add(statics))
    }
}
