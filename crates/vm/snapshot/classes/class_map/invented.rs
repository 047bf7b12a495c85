//! Classes that tests invent.

use super::{Class, ClassMap, Shape, FREE};
use std::collections::HashMap;
use tables::ClassId;

impl ClassMap {
    /// Classes with these shapes. Their class words are 1, 2 and so on.
    pub fn of_shapes(shapes: Vec<Shape>) -> Self {
        let mut map = Self {
            slots: vec![(0, FREE); (shapes.len() * 4).next_power_of_two()],
            classes: Vec::new(),
            by_mirror: HashMap::new(),
        };
        for (index, shape) in shapes.into_iter().enumerate() {
            let word = index as u64 + 1;
            let Some(id) = ClassId::from_index(index) else {
                break;
            };
            map.insert(word);
            map.classes.push(Class {
                id,
                mirror: word << 40,
                shape,
                is_class_class: false,
                deciding: Vec::new(),
            });
        }
        map
    }

    /// Makes `class_class` the `java.lang.Class` of this map, and the object at `mirror` the mirror
    /// of class `of`.
    #[cfg(test)]
    pub(crate) fn with_mirror(mut self, class_class: ClassId, mirror: u64, of: ClassId) -> Self {
        for class in &mut self.classes {
            class.is_class_class = class.id == class_class;
            if class.id == of {
                class.mirror = mirror;
            }
        }
        self.by_mirror.insert(mirror, of);
        self
    }

    /// Makes these fields of a class decide about arrays.
    #[cfg(test)]
    pub(crate) fn with_deciding(mut self, of: usize, deciding: Vec<super::Deciding>) -> Self {
        if let Some(class) = self.classes.get_mut(of) {
            class.deciding = deciding;
        }
        self
    }
}
