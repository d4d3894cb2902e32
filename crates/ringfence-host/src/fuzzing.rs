//! What is read of this host, whoever wrote it.

mod paths;
mod texts;

pub use paths::paths;
pub use texts::texts;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use crate::testing::Tree;

    fn replay(target: &str, judge: fn(&[u8])) {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus");
        let corpus = Path::new(corpus).join(target);
        assert_ne!(fs::read_dir(&corpus).unwrap().count(), 0);
        for entry in fs::read_dir(corpus).unwrap() {
            judge(&fs::read(entry.unwrap().path()).unwrap());
        }
    }

    fn paths(data: &[u8]) {
        super::paths(data, &Tree::new().root);
    }

    #[test]
    fn known_trees_of_links_are_walked_as_the_kernel_does() {
        replay("paths", paths);
    }

    #[test]
    fn known_texts_are_read_as_what_they_are() {
        replay("texts", super::texts);
    }

    proptest! {
        #[test]
        fn any_trees_of_links_are_walked_as_the_kernel_does(data in vec(any::<u8>(), 0..120)) {
            paths(&data);
        }

        #[test]
        fn any_texts_are_read_as_what_they_are(text in "([\\[\\]a-c=\"\\\\.#; \\t\\n\\r-]|\\[a\\]\\n|\\\\134|b=c){0,40}") {
            super::texts(text.as_bytes());
        }
    }
}
