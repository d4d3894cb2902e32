use super::{own_descriptor, split};

/// Directory, name, and whether slashes follow.
fn parts(path: &str) -> Option<(String, String, bool)> {
    let mut path = [path.as_bytes(), b"\0"].concat();
    let (directory, name, is_directory) = split(&mut path)?;
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    Some((text(directory.bytes()), text(name.bytes()), is_directory))
}

#[test]
fn a_path_is_split_where_the_kernel_splits_it() {
    for (path, directory, name, is_directory) in [
        ("a", ".", "a", false),
        ("/a", "/", "a", false),
        ("a/b", "a", "b", false),
        ("/a/b/c", "/a/b", "c", false),
        ("a//b///", "a/", "b", true),
        ("../.git/", "..", ".git", true),
        ("..a", ".", "..a", false),
    ] {
        let expected = (directory.to_owned(), name.to_owned(), is_directory);
        assert_eq!(parts(path), Some(expected), "{path}");
    }
    for path in ["", "/", "//", ".", "a/..", "/.", "../"] {
        assert_eq!(parts(path), None, "{path}");
    }
}

#[test]
fn paths_of_own_descriptors_are_known() {
    for (path, number) in [
        ("/proc/self/fd/7", Some(7)),
        ("/proc/thread-self/fd/12", Some(12)),
        ("/dev/fd/3", Some(3)),
        ("/proc/self/fd/", None),
        ("/proc/self/fd/7/x", None),
        ("/proc/self/fd/99999999999", None),
        ("/proc/8/fd/7", None),
    ] {
        assert_eq!(
            own_descriptor(&[path.as_bytes(), b"\0"].concat()),
            number,
            "{path}"
        );
    }
}
