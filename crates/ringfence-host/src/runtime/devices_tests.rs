use super::{devices, verify};
use crate::observe;
use crate::testing::Tree;

#[test]
fn pol_38_the_null_device_is_there_with_its_identity() {
    let found = devices();
    let null = found.iter().find(|device| device.path.ends_with("null")).unwrap();
    assert_eq!(null.path.to_str(), Some("/dev/null"));
    assert_eq!(observe(&null.path).unwrap().unwrap().1, null.identity);
    assert!(found.is_sorted_by(|a, b| a.path < b.path));
}

#[test]
fn a_node_must_be_what_its_name_says() {
    let tree = Tree::new();
    let link = tree.link("null", "/dev/null");
    let file = tree.file("file");
    assert!(verify(&("/dev/null", 1, 3)).is_some());
    assert_eq!(verify(&("/dev/null", 1, 5)), None);
    assert_eq!(verify(&(link.to_str().unwrap(), 1, 3)), None);
    assert_eq!(verify(&(file.to_str().unwrap(), 0, 0)), None);
    assert_eq!(verify(&("/dev/missing", 1, 3)), None);
}
