//! A zygote that is begun before its plan is known: its namespaces, which take the kernel a while, are made meanwhile.

use std::path::Path;
use std::sync::Mutex;

use ringfence_backend::SetupFailed;
use ringfence_zygote::wire::Beginning;

use crate::look::lock;
use crate::zygote::Begun;

/// The next zygote, if it is begun.
#[derive(Debug, Default)]
pub(crate) struct Ahead(Mutex<Option<Begun>>);

impl Ahead {
    /// Begins one, unless one waits already. What goes wrong is told to whoever starts the next one.
    pub(crate) fn begin(&self, beginning: Beginning, base: &Path) {
        let mut next = lock(&self.0);
        if next.is_none() {
            let begun: Result<Begun, SetupFailed> = Begun::new(beginning, base);
            *next = begun.ok();
        }
    }

    /// The one that waits, if it is of this kind.
    pub(crate) fn take(&self, beginning: Beginning) -> Option<Begun> {
        lock(&self.0).take_if(|begun| begun.beginning() == beginning)
    }
}
