//! Placeholders: nothing here occupies an absent name, so nothing has to be removed.

use std::io;
use std::path::{Path, PathBuf};

/// Where locks would be: in `otherwise`. Nobody shares any, so the directory is never made.
pub fn locks_of_user(otherwise: &Path) -> PathBuf {
    otherwise.join(".rf-locks")
}

/// Removes nothing: no owner of a journal made anything.
///
/// # Errors
/// None here.
pub fn sweep(_journal: &Path, _locks: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(Vec::new())
}

/// Removes nothing: nobody makes locks.
///
/// # Errors
/// None here.
pub fn sweep_locks(_locks: &Path) -> io::Result<()> {
    Ok(())
}
