//! One shape: what is planted, in which collection, and who holds it.

use super::container::{self, Container, OPEN_MAP, OWN_NODE};
use super::yard::Yard;

/// What the elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Own,
    Subclasses,
    ByteArrays,
    Arrays,
    Strings,
    Boxes,
    /// Keys and values are of one class.
    OwnKeys,
    /// The keys are objects of another class of the program.
    OtherKeys,
    /// Each in an object of the JDK.
    Wrapped,
}

/// What each element has beside its own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parts {
    Bytes,
    Text,
    /// An object of the program that weighs more than the element.
    Detail,
    /// An array of several of them.
    Details,
    /// One part for all, beside bytes of each.
    SharedByAll,
    /// One part for two.
    SharedByPairs,
}

/// How the collection is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    Static,
    /// By an object of the program that a static field has.
    Service,
    /// By a static field beside others that hold little.
    OneOfStatics,
    /// Each half by a static field of one class.
    Halves,
    Frame,
    Native,
    /// By an object of the program that has two collections of all.
    Indexes,
    /// Two static fields of two classes have a collection each of all.
    Two,
}

/// How collections are in collections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nesting {
    Flat,
    /// So many collections of this form, in the collection.
    Groups(Container, usize),
    /// So many objects of the program with a collection of this form each.
    Owners(Container, usize),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) container: Container,
    pub(super) nesting: Nesting,
    pub(super) kind: Kind,
    pub(super) parts: Parts,
    pub(super) holder: Holder,
    pub(super) count: usize,
    /// Bytes of all elements, about.
    pub(super) bytes: usize,
    /// Bytes of what does not leak.
    pub(super) background: usize,
}

impl Default for Case {
    fn default() -> Self {
        Self {
            container: Container::ArrayList,
            nesting: Nesting::Flat,
            kind: Kind::Own,
            parts: Parts::Bytes,
            holder: Holder::Static,
            count: 1_500,
            bytes: 1_300_000,
            background: 2_000_000,
        }
    }
}

/// What may be said: objects of these classes, all of which are planted.
#[derive(Clone, Debug)]
pub(super) struct Planted {
    pub(super) classes: Vec<(String, Vec<u64>)>,
    /// The class and the field of a static holder.
    pub(super) statics: Option<(&'static str, &'static str)>,
    pub(super) owner: Option<(&'static str, &'static str)>,
    /// The reference to the collection.
    pub(super) reference: Option<(u64, u64)>,
}

type Group = (String, Vec<u64>);

const ORDER: &str = "shop/Order";
const SUBCLASSES: [&str; 3] = ["shop/CardOrder", "shop/CashOrder", "shop/GiftOrder"];

impl Case {
    /// The heap, and what may be said of it.
    pub(super) fn plant(&self, yard: &mut Yard) -> Vec<Planted> {
        self.add_background(yard);
        let mut planted = self.plant_leak(yard);
        for it in &mut planted {
            it.classes.push((OWN_NODE.to_owned(), yard.all(OWN_NODE)));
        }
        planted
    }

    fn plant_leak(&self, yard: &mut Yard) -> Vec<Planted> {
        match self.holder {
            Holder::Halves => {
                let [open, done] = [0, 1].map(|_| self.add(yard, self.count / 2));
                let statics = [("open", open.0), ("done", done.0)];
                let class = yard.class_with("shop/App", "", "", &statics);
                let planted = |field, (id, classes)| Planted {
                    classes,
                    statics: Some(("shop/App", field)),
                    owner: None,
                    reference: Some((class, id)),
                };
                vec![planted("open", open), planted("done", done)]
            }
            Holder::Two | Holder::Indexes => self.twice(yard),
            _ => {
                let (id, classes) = self.add(yard, self.count);
                vec![self.hold(yard, id, classes)]
            }
        }
    }

    /// Two collections of all elements.
    fn twice(&self, yard: &mut Yard) -> Vec<Planted> {
        let (elements, mut classes) = self.elements(yard, self.count);
        let (named, keys) = self.keys(yard, &elements);
        classes.extend(named);
        let both = [0, 1].map(|_| self.container.add(yard, &keys, &elements));
        let planted = |statics, owner| Planted {
            classes: classes.clone(),
            statics: Some(statics),
            owner,
            reference: None,
        };
        if self.holder == Holder::Indexes {
            yard.class("shop/Service", "", "byNumber byName");
            let service = yard.make("shop/Service", &both);
            yard.class_with("shop/App", "", "", &[("service", service)]);
            let owner = |field| Some(("shop/Service", field));
            return ["byNumber", "byName"]
                .map(|field| planted(("shop/App", "service"), owner(field)))
                .into();
        }
        let planted = ["shop/App", "shop/Index"]
            .into_iter()
            .zip(both)
            .map(|(class, id)| {
                yard.class_with(class, "", "", &[("all", id)]);
                planted((class, "all"), None)
            });
        planted.collect()
    }

    /// Many tables of libraries, each of which is too small to be a suspect.
    fn add_background(&self, yard: &mut Yard) {
        const LIBRARIES: usize = 24;
        for number in 0..LIBRARIES {
            let each = self.background / LIBRARIES / 20;
            let values: Vec<u64> = (0..20).map(|_| yard.bytes(each)).collect();
            let table = yard.array("[Ljava/lang/Object;", &values);
            yard.class_with(&format!("lib/Table{number}"), "", "", &[("TABLE", table)]);
        }
    }

    fn hold(&self, yard: &mut Yard, id: u64, classes: Vec<Group>) -> Planted {
        let mut planted = Planted {
            classes,
            statics: None,
            owner: None,
            reference: None,
        };
        match self.holder {
            Holder::Frame => yard.local(id),
            Holder::Native => {
                yard.class("shop/Peer", "", "items");
                let peer = yard.make("shop/Peer", &[id]);
                yard.global(peer);
                planted.owner = Some(("shop/Peer", "items"));
                planted.reference = Some((peer, id));
            }
            Holder::Service => {
                yard.class("shop/Service", "", "name orders");
                let name = yard.text(7, 20);
                let service = yard.make("shop/Service", &[name, id]);
                yard.class_with("shop/App", "", "", &[("service", service)]);
                planted.statics = Some(("shop/App", "service"));
                planted.owner = Some(("shop/Service", "orders"));
                planted.reference = Some((service, id));
            }
            _ => {
                let mut statics = vec![("orders", id)];
                if self.holder == Holder::OneOfStatics {
                    let (name, config) = (yard.text(8, 30), yard.bytes(40_000));
                    statics = vec![("NAME", name), ("orders", id), ("config", config)];
                }
                let class = yard.class_with("shop/App", "", "", &statics);
                planted.statics = Some(("shop/App", "orders"));
                planted.reference = Some((class, id));
            }
        }
        planted
    }

    /// A collection of so many elements, and what may be said of it.
    fn add(&self, yard: &mut Yard, count: usize) -> (u64, Vec<Group>) {
        let (elements, mut groups) = self.elements(yard, count);
        let (inner, number) = match self.nesting {
            Nesting::Flat => {
                let (named, keys) = self.keys(yard, &elements);
                groups.extend(named);
                return (self.container.add(yard, &keys, &elements), groups);
            }
            Nesting::Groups(inner, number) | Nesting::Owners(inner, number) => (inner, number),
        };
        let (named, keys) = self.keys(yard, &elements);
        groups.extend(named);
        let each = elements.len().div_ceil(number);
        let chunks = keys.chunks(each).zip(elements.chunks(each));
        let mut inside: Vec<u64> = chunks
            .map(|(keys, all)| inner.add(yard, keys, all))
            .collect();
        if matches!(self.nesting, Nesting::Owners(..)) {
            yard.class("shop/Customer", "", "orders letters number:l");
            let heavy = self.bytes * 3 / 2 / number;
            let mut all_letters = Vec::new();
            for id in &mut inside {
                let letters = yard.bytes(if self.parts == Parts::Text { heavy } else { 8 });
                all_letters.push(letters);
                *id = yard.make("shop/Customer", &[*id, letters, 1]);
            }
            groups.push(("shop/Customer".to_owned(), inside.clone()));
            if self.kind == Kind::ByteArrays {
                groups.push(("[B".to_owned(), [&elements[..], &all_letters].concat()));
            }
        }
        if matches!(self.nesting, Nesting::Groups(Container::OpenMap, _)) {
            groups.push((OPEN_MAP.to_owned(), inside.clone()));
        }
        let keys: Vec<u64> = (0..inside.len()).map(|it| yard.text(it, 12)).collect();
        let texts = groups.iter().filter(|it| it.0 == "java/lang/String");
        let with_keys: Vec<Group> = texts
            .map(|(name, ids)| (name.clone(), [&ids[..], &keys].concat()))
            .collect();
        groups.extend(with_keys);
        (self.container.add(yard, &keys, &inside), groups)
    }

    /// The keys, and what may be said of them.
    fn keys(&self, yard: &mut Yard, elements: &[u64]) -> (Vec<Group>, Vec<u64>) {
        yard.class("shop/Key", "", "number:l");
        let keys = (0..elements.len()).map(|it| match self.kind {
            Kind::OtherKeys => yard.make("shop/Key", &[it as u64]),
            Kind::OwnKeys => yard.make(ORDER, &[0, 0, 0, it as u64]),
            _ => yard.text(it, 12),
        });
        let keys: Vec<u64> = keys.collect();
        let named = match self.kind {
            Kind::OtherKeys => vec![("shop/Key".to_owned(), keys.clone())],
            // Keys and values are one row.
            Kind::OwnKeys => vec![(ORDER.to_owned(), [elements, &keys].concat())],
            Kind::Strings => vec![("java/lang/String".to_owned(), [elements, &keys].concat())],
            _ => Vec::new(),
        };
        (named, keys)
    }

    /// The elements of a collection, and the objects that they are to the program.
    fn elements(&self, yard: &mut Yard, count: usize) -> (Vec<u64>, Vec<Group>) {
        let each = (self.bytes / self.count).saturating_sub(56).max(1);
        let group = |class: &str, ids: &[u64]| vec![(class.to_owned(), ids.to_vec())];
        yard.class(ORDER, "", "next before part number:l");
        match self.kind {
            Kind::ByteArrays => {
                let ids: Vec<u64> = (0..count).map(|_| yard.bytes(each)).collect();
                (ids.clone(), group("[B", &ids))
            }
            Kind::Strings => {
                let ids: Vec<u64> = (0..count).map(|it| yard.text(it, each)).collect();
                (ids.clone(), group("java/lang/String", &ids))
            }
            Kind::Boxes => {
                yard.class("java/lang/Long", "", "value:l");
                let ids = (0..count).map(|it| yard.make("java/lang/Long", &[it as u64]));
                let ids: Vec<u64> = ids.collect();
                (ids.clone(), group("java/lang/Long", &ids))
            }
            Kind::Arrays => {
                yard.class("shop/Detail", "", "bytes");
                let details = (0..count).map(|_| {
                    let bytes = yard.bytes(each);
                    yard.make("shop/Detail", &[bytes])
                });
                let details: Vec<u64> = details.collect();
                let array = |id: &u64| yard.array("[Lshop/Detail;", &[*id]);
                let ids: Vec<u64> = details.iter().map(array).collect();
                (ids, group("shop/Detail", &details))
            }
            _ => self.own(yard, count, each),
        }
    }

    /// Objects of the program.
    fn own(&self, yard: &mut Yard, count: usize, each: usize) -> (Vec<u64>, Vec<Group>) {
        let ids = yard.ids(count);
        let (parts, details) = self.parts(yard, count, each);
        let at = |place: Option<usize>| place.and_then(|it| ids.get(it)).copied().unwrap_or(0);
        let mut groups: Vec<Group> = vec![("shop/Detail".to_owned(), details)];
        for (place, id) in ids.iter().enumerate() {
            let class = match self.kind {
                Kind::Subclasses => SUBCLASSES[place % 3],
                _ => ORDER,
            };
            if class != ORDER {
                yard.class(class, ORDER, "");
            }
            let [next, before] = self.container.links(place).map(at);
            yard.put(*id, class, &[next, before, parts[place], place as u64]);
            match groups.iter_mut().find(|(name, _)| name == class) {
                Some((_, ids)) => ids.push(*id),
                None => groups.push((class.to_owned(), vec![*id])),
            }
        }
        if self.kind != Kind::Wrapped {
            return (ids, groups);
        }
        let class = "java/util/concurrent/atomic/AtomicReference";
        yard.class(class, "", "value");
        (
            ids.iter().map(|id| yard.make(class, &[*id])).collect(),
            groups,
        )
    }

    /// The part of each, and the parts that stand for themselves.
    fn parts(&self, yard: &mut Yard, count: usize, each: usize) -> (Vec<u64>, Vec<u64>) {
        yard.class("shop/Detail", "", "bytes");
        yard.class("shop/Holding", "", "common own");
        let detail = |yard: &mut Yard, count: usize| {
            let bytes = yard.bytes(count);
            yard.make("shop/Detail", &[bytes])
        };
        let common = detail(yard, 3_000);
        let (mut last, mut shared) = (0, Vec::new());
        let mut part = |place: usize| match self.parts {
            Parts::Bytes => yard.bytes(each),
            Parts::Text => yard.text(place, each),
            Parts::Detail => detail(yard, each),
            Parts::Details => {
                let details = [0; 3].map(|_| detail(yard, each / 3));
                yard.array("[Lshop/Detail;", &details)
            }
            Parts::SharedByAll => {
                let own = yard.bytes(each);
                yard.make("shop/Holding", &[common, own])
            }
            Parts::SharedByPairs => {
                if place % 2 == 0 {
                    last = detail(yard, each);
                    shared.push(last);
                }
                let own = yard.bytes(each / 2);
                yard.make("shop/Holding", &[last, own])
            }
        };
        ((0..count).map(&mut part).collect(), shared)
    }

    /// Whether the parts can be put together.
    pub(super) fn is_possible(&self) -> bool {
        let is_own = matches!(self.kind, Kind::Own | Kind::Subclasses);
        let needs_keys = matches!(self.kind, Kind::OwnKeys | Kind::OtherKeys);
        let (inner, number) = match self.nesting {
            Nesting::Flat => (self.container, 1),
            Nesting::Groups(inner, number) | Nesting::Owners(inner, number) => (inner, number),
        };
        let is_nested = self.nesting != Nesting::Flat;
        (!self.container.is_linked() || (is_own && !is_nested))
            && !(is_nested && inner.is_linked())
            && (!needs_keys || inner.has_keys())
            && number * 2 <= self.count
            // Three classes, two halves: few of each are no group.
            && (self.count > 32 || (self.kind != Kind::Subclasses && self.holder != Holder::Halves))
            // Of trees of several classes, only the first ones of a class are counted.
            && !(self.kind == Kind::Subclasses
                && matches!(self.container, Container::Chains | Container::Forest))
            && (self.count >= 10_000 || self.kind != Kind::Boxes)
            && !(matches!(self.holder, Holder::Two | Holder::Indexes) && (self.container.is_linked() || is_nested))
    }

    /// One of them all, by a number.
    pub(super) fn random(mut number: u64) -> Self {
        let mut next = |behind: usize| {
            // SplitMix64.
            number = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut mixed = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((mixed ^ (mixed >> 31)) % behind as u64) as usize
        };
        let all = container::ALL;
        let (inner, number) = (all[next(all.len())], GROUPS[next(GROUPS.len())]);
        Self {
            container: all[next(all.len())],
            nesting: match next(4) {
                0 => Nesting::Groups(inner, number),
                1 => Nesting::Owners(inner, number),
                _ => Nesting::Flat,
            },
            kind: KINDS[next(KINDS.len())],
            parts: PARTS[next(PARTS.len())],
            holder: HOLDERS[next(HOLDERS.len())],
            count: COUNTS[next(COUNTS.len())],
            bytes: [900_000, 1_300_000][next(2)],
            background: [200_000, 2_000_000][next(2)],
        }
    }
}

/// Numbers of inner collections, about the limits of holders and of many.
pub(super) const GROUPS: [usize; 6] = [2, 7, 9, 40, 333, 1_001];

/// Numbers of elements, about the limits of samples, holders and paths.
pub(super) const COUNTS: [usize; 12] = [2, 7, 8, 9, 33, 100, 511, 513, 999, 1_001, 4_000, 10_001];

pub(super) const KINDS: [Kind; 9] = [
    Kind::Own,
    Kind::Subclasses,
    Kind::ByteArrays,
    Kind::Arrays,
    Kind::Strings,
    Kind::Boxes,
    Kind::OwnKeys,
    Kind::OtherKeys,
    Kind::Wrapped,
];

pub(super) const PARTS: [Parts; 6] = [
    Parts::Bytes,
    Parts::Text,
    Parts::Detail,
    Parts::Details,
    Parts::SharedByAll,
    Parts::SharedByPairs,
];

pub(super) const HOLDERS: [Holder; 8] = [
    Holder::Static,
    Holder::Service,
    Holder::OneOfStatics,
    Holder::Halves,
    Holder::Frame,
    Holder::Native,
    Holder::Indexes,
    Holder::Two,
];
