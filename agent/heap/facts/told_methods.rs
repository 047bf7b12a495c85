//! The ids of methods that the forked copy has named: HotSpot has an id only for a method that
//! somebody has asked about.

use super::catalogue::Catalogue;
use jvm::method::MethodId;
use std::collections::HashMap;
use tables::ClassId;

/// A name and a signature.
type Name = (Vec<u8>, Vec<u8>);

/// The methods of the classes that were asked about. The JVM is asked once about each class.
#[derive(Debug, Default)]
pub(in crate::heap) struct ToldMethods {
    by_class: HashMap<ClassId, HashMap<Name, MethodId>>,
}

impl ToldMethods {
    /// The id of a class's own method; `None` if it has none with this name and signature.
    pub(in crate::heap) fn id(
        &mut self,
        class: ClassId,
        name: &[u8],
        signature: &[u8],
        catalogue: &Catalogue<'_>,
    ) -> Option<MethodId> {
        let env = catalogue.env;
        let methods = self.by_class.entry(class).or_insert_with(|| {
            let ids = catalogue.handle(class).map(|class| env.method_ids(class));
            let ids = ids.and_then(Result::ok).unwrap_or_default().into_iter();
            ids.filter_map(|id| Some((env.method_name(id).ok()?, id)))
                .collect()
        });
        methods.get(&(name.to_vec(), signature.to_vec())).copied()
    }
}
