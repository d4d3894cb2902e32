//! The home directory of the user this process runs as.

use std::path::PathBuf;

/// The home directory as the user database has it (passwd(5)); users that only a name service knows have none here.
#[cfg(unix)]
pub(crate) fn of_this_user() -> Option<PathBuf> {
    let user = rustix::process::geteuid().as_raw().to_string();
    home_in(&std::fs::read("/etc/passwd").ok()?, user.as_bytes())
}

#[cfg(not(unix))]
pub(crate) fn of_this_user() -> Option<PathBuf> {
    None
}

#[cfg(unix)]
fn home_in(database: &[u8], user: &[u8]) -> Option<PathBuf> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let lines = database.split(|byte| *byte == b'\n');
    let mut entries = lines.map(|line| line.split(|byte| *byte == b':').collect::<Vec<_>>());
    let entry = entries.find(|fields| fields.get(2) == Some(&user))?;
    let home = PathBuf::from(OsStr::from_bytes(entry.get(5)?));
    home.is_absolute().then_some(home)
}

#[cfg(all(test, unix))]
mod tests {
    use super::home_in;
    use std::path::PathBuf;

    #[test]
    fn the_sixth_field_of_the_users_line_counts() {
        let database =
            b"root:x:0:0:root:/root:/bin/sh\nme:x:1000:1000::/home/me:/bin/sh\nodd:x:7:7:::/bin/sh\n";
        assert_eq!(home_in(database, b"1000"), Some(PathBuf::from("/home/me")));
        assert_eq!(home_in(database, b"7"), None);
        assert_eq!(home_in(database, b"100"), None);
    }
}
