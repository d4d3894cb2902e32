//! Guarded directories. Each is the root of a mount: nobody moves it, and the mount in which an object lies tells
//! whether it is beneath.

use super::{Answer, Errno, Place, Plan, sys};
use crate::body::plan::Guard;
use crate::body::sys::{Path, Site};
use crate::body::{At, Outcome};
use crate::wire::Step;

/// Those of a spawn.
pub(crate) struct Guards<'a> {
    plan: Plan<'a>,
    /// The ids of their mounts, in the plan's order.
    mounts: &'static [u64],
}

impl<'a> Guards<'a> {
    /// Finds those of the plan; nothing where there are none.
    pub(crate) fn find(plan: &Plan<'a>) -> Outcome<'a, Option<Self>> {
        plan.check(Step::Broker)?;
        let count = plan.guard_count();
        if count == 0 {
            return Ok(None);
        }
        let mounts = sys::map_words(count).at(Step::Broker)?;
        for (mount, guard) in mounts.iter_mut().zip(plan.guards()) {
            let open = sys::open(guard.path, sys::O_PATH | sys::O_DIRECTORY | sys::O_CLOEXEC);
            let site = open.and_then(|directory| sys::site(&directory));
            let site = site.at_path(Step::Broker, guard.path)?;
            if !site.is_root {
                return Err(sys::EINVAL).at_path(Step::Broker, guard.path);
            }
            *mount = site.mount;
        }
        let plan = plan.clone();
        Ok(Some(Self { plan, mounts }))
    }

    /// The guarded directory beneath which something lies.
    pub(super) fn around(&self, site: &Site) -> Option<Guard<'a>> {
        let mut guards = self.mounts.iter().zip(self.plan.guards());
        guards.find_map(|(mount, guard)| (*mount == site.mount).then_some(guard))
    }

    /// How a guarded name is refused if it is closed; nothing for a place that is not guarded.
    pub(super) fn refused(&self, place: &Place<'_>) -> Option<Option<Errno>> {
        let mut closed = self.around(&place.site)?.names;
        let is_closed = place.site.is_root && closed.any(|name| name.bytes() == place.name.bytes());
        Some(is_closed.then_some(sys::EACCES))
    }

    /// Whether a name is closed in any directory.
    pub(super) fn is_closed_anywhere(&self, wanted: Path<'_>) -> bool {
        let mut names = self.plan.guards().flat_map(|guard| guard.names);
        names.any(|name| name.bytes() == wanted.bytes())
    }

    /// Makes a name where it is guarded and not closed.
    pub(super) fn make(
        &self,
        place: &Place<'_>,
        make: impl FnOnce(&Place<'_>) -> sys::Result<()>,
    ) -> Option<Answer> {
        if let Some(errno) = self.refused(place)? {
            return Some(Answer::Fail(errno));
        }
        Some(match make(place) {
            Ok(()) => Answer::Done,
            Err(errno) => Answer::Fail(errno),
        })
    }
}
