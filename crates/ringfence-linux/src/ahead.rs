//! A zygote that is begun before its plan is known: its namespaces, which take the kernel a while, are made meanwhile.

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use ringfence_backend::SetupFailed;
use ringfence_zygote::wire::Beginning;

use crate::look::lock;
use crate::zygote::Begun;

/// What the host mounts after the namespaces were made may not be seen in them, so an older one is of no use.
const FRESH: Duration = Duration::from_secs(1);

/// The next zygote, if it is begun.
#[derive(Debug, Default)]
pub(crate) struct Ahead(Mutex<Option<(Instant, Begun)>>);

impl Ahead {
    /// Begins one, unless one waits already. What goes wrong is told to whoever starts the next one.
    pub(crate) fn begin(&self, beginning: Beginning, base: &Path) {
        let mut next = lock(&self.0);
        next.take_if(|(since, _)| !is_fresh(*since));
        if next.is_none() {
            let begun: Result<Begun, SetupFailed> = Begun::new(beginning, base);
            *next = begun.ok().map(|begun| (Instant::now(), begun));
        }
    }

    /// The one that waits, if it is fresh and of this kind, with when it was begun; else it ends.
    pub(crate) fn take(&self, beginning: Beginning) -> Option<(Instant, Begun)> {
        let next = lock(&self.0).take();
        next.filter(|(since, begun)| is_fresh(*since) && begun.beginning() == beginning)
    }
}

/// Whether one that was begun then can still be used.
pub(crate) fn is_fresh(since: Instant) -> bool {
    since.elapsed() <= FRESH
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe;
    use crate::zygote::Zygote;

    fn begun(before: Duration) -> (Ahead, ringfence_zygote::plan::Plan) {
        let plan = probe::plan(&probe::look()).unwrap();
        let ahead = Ahead::default();
        ahead.begin(plan.beginning(), Path::new("/tmp"));
        let mut next = lock(&ahead.0);
        let (since, _) = next.as_mut().unwrap();
        *since -= before;
        drop(next);
        (ahead, plan)
    }

    #[test]
    fn one_that_waits_gets_the_plan() {
        let (ahead, plan) = begun(Duration::ZERO);
        let (_, begun) = ahead.take(plan.beginning()).unwrap();
        let zygote = begun.build(&plan).unwrap();
        let zygote = zygote.finish().unwrap();
        zygote.take_spare().unwrap();
        zygote.end();
        assert!(ahead.take(plan.beginning()).is_none(), "it is there once");
    }

    #[test]
    fn one_of_another_kind_or_of_long_ago_is_not_taken() {
        let (ahead, plan) = begun(Duration::ZERO);
        let mut other = plan.beginning();
        other.uid += 1;
        assert!(ahead.take(other).is_none());
        let (ahead, plan) = begun(FRESH);
        assert!(ahead.take(plan.beginning()).is_none());
        // Nor does it keep another one from being begun.
        let (ahead, plan) = begun(FRESH);
        ahead.begin(plan.beginning(), Path::new("/tmp"));
        Zygote::start(&plan, &ahead).unwrap().end();
        assert!(lock(&ahead.0).is_none());
    }
}
