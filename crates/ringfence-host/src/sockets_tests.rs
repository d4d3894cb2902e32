use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use super::table::parse;
use super::{Bound, Search, bound, search};
use crate::testing::Tree;

fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}

#[test]
fn sockets_are_listed_as_they_were_bound() {
    let tree = Tree::new();
    let absolute = tree.path("with space\nand [newline]");
    let up = std::env::current_dir()
        .unwrap()
        .components()
        .skip(1)
        .map(|_| "..")
        .collect::<PathBuf>();
    let relative = up.join(tree.path("r").strip_prefix("/").unwrap());
    let datagram = tree.path("datagram");
    let hidden = format!("ringfence {:?}", tree.root);
    let _listener = UnixListener::bind(&absolute).unwrap();
    let _client = UnixStream::connect(&absolute).unwrap();
    let _relative = UnixListener::bind(&relative).unwrap();
    let _datagram = UnixDatagram::bind(&datagram).unwrap();
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&hidden).unwrap()).unwrap();
    let listed = bound().unwrap();
    let count = |path: &Path| listed.absolute.iter().filter(|bound| *bound == path).count();
    assert_eq!((count(&absolute), count(&datagram)), (1, 1));
    assert!(
        listed.relative.contains(&relative),
        "{relative:?} not in {:?}",
        listed.relative
    );
    assert!(listed.absolute.is_sorted() && listed.relative.is_sorted());
    let all = listed.absolute.iter().chain(&listed.relative);
    assert!(all.clone().all(|path| !path.to_string_lossy().contains(&hidden)));
}

#[test]
fn the_table_of_the_kernel_is_understood() {
    const TABLE: &[u8] = b"Num       RefCount Protocol Flags    Type St Inode Path
00000000a8d1: 00000003 00000000 00000000 0001 03 21110
00000000a8d2: 00000002 00000000 00010000 0001 01     7 /run/b
00000000a8d3: 00000003 00000000 00000000 0001 03 21112 /run/b
00000000a8d4: 00000002 00000000 00010000 0001 01 21113 @/tmp/.X11-unix/X0
00000000a8d5: 00000002 00000000 00000000 0002 01 21114 rel/s
00000000a8d6: 00000002 00000000 00010000 0005 01 21115  starts with a blank
00000000a8d7: 00000002 00000000 00010000 0001 01 21116 /a

ends: here
00000000a8d8: 00000002 00000000 00010000 0001 01 21117 @abstract
continued
00000000a8d9: 00000002 00000000 00010000 0001 01 21118 /last
";
    assert_eq!(
        parse(TABLE),
        Bound {
            absolute: paths(&["/a\n\nends: here", "/last", "/run/b"]),
            relative: paths(&[" starts with a blank", "rel/s"]),
        }
    );
}

#[test]
fn a_table_that_is_cut_off_or_strange_does_no_harm() {
    let record = b"0: 00000002 00000000 00010000 0001 01 21117 /a\n";
    let name = record.len() - b"/a\n".len();
    for end in 0..=record.len() {
        let expected: &[&str] = match end.saturating_sub(name) {
            0 => &[],
            1 => &["/"],
            _ => &["/a"],
        };
        assert_eq!(parse(&record[..end]).absolute, paths(expected));
    }
    for strange in [
        &b""[..],
        b"\n\n",
        b":",
        b": 00000002",
        b"0: 00000002 00000000 00010000 0001 0112 /a",
        b"0: 0000000g 00000000 00010000 0001 01 1 /a",
    ] {
        assert_eq!(parse(strange), Bound::default());
    }
}

#[test]
fn search_finds_socket_files_and_named_pipes_only() {
    let tree = Tree::new();
    tree.dir("ws/a/b");
    tree.file("ws/a/file");
    tree.dir("elsewhere");
    tree.link("ws/link", "../elsewhere");
    let (deep, top, outside) = (tree.path("ws/a/b/s"), tree.path("ws/s"), tree.path("elsewhere/s"));
    let _sockets = [&deep, &top, &outside].map(|path| UnixListener::bind(path).unwrap());
    tree.link("ws/alias", "s");
    let pipe = tree.path("ws/a/pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let roots = [tree.path("ws"), tree.path("ws/a"), tree.path("missing")];
    assert_eq!(
        search(&roots, 100),
        Search {
            found: vec![deep, top.clone()],
            pipes: vec![pipe],
            complete: true
        }
    );
    assert_eq!(
        search(&roots, 4),
        Search {
            found: vec![top],
            pipes: Vec::new(),
            complete: false
        }
    );
}

#[test]
fn the_limit_is_the_number_of_entries() {
    let tree = Tree::new();
    tree.file("ws/a");
    tree.file("ws/b");
    assert!(search(&[tree.path("ws")], 2).complete);
    assert!(!search(&[tree.path("ws")], 1).complete);
}
