//! Who has confined itself further. Process 1 is in none of the Landlock domains that commands make themselves, and can't
//! ask who is; so it makes no names for whoever may be in one: a process that entered one, what descends from it, and
//! what descends from nobody knows whom.

use super::Caller;

/// How many processes are told apart.
const MOST: usize = 64;
/// How many parents are looked at.
const DEEPEST: usize = 1024;

pub(super) struct Layers {
    /// The command's own process, from which all others descend.
    target: u32,
    /// Processes that entered a domain of their own; zeros where there are none.
    inside: [u32; MOST],
    known: Known,
}

/// What is known of all who are inside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    /// There is nobody. `adopted` tells whether somebody may adopt children of others.
    Nobody { adopted: bool },
    /// They descend from those that are listed, or from nobody who is left.
    Descendants,
    /// They may have any parent.
    Nothing,
}

impl Layers {
    pub(super) const fn new(target: u32) -> Self {
        Self {
            target,
            inside: [0; MOST],
            known: Known::Nobody { adopted: false },
        }
    }

    /// Somebody enters a domain.
    pub(super) fn enter(&mut self, caller: &Caller) {
        let can_be_told = matches!(self.known, Known::Nobody { adopted: false } | Known::Descendants);
        let is_listed = can_be_told && caller.process().is_some_and(|process| self.list(process));
        self.known = if is_listed {
            Known::Descendants
        } else {
            Known::Nothing
        };
    }

    fn list(&mut self, process: u32) -> bool {
        if self.inside.contains(&process) {
            return true;
        }
        if !self.inside.contains(&0) {
            for slot in &mut self.inside {
                if process_of(*slot).is_gone() {
                    *slot = 0;
                }
            }
        }
        let free = self.inside.iter_mut().find(|slot| **slot == 0);
        free.map(|slot| *slot = process).is_some()
    }

    /// Somebody becomes the parent of children whose own one ends.
    pub(super) fn adopt(&mut self) {
        self.known = match self.known {
            Known::Nobody { .. } => Known::Nobody { adopted: true },
            _ => Known::Nothing,
        };
    }

    /// Somebody makes a child that is its parent's.
    pub(super) fn give_away(&mut self, caller: &Caller) {
        if self.may_be_inside(caller) {
            self.known = Known::Nothing;
        }
    }

    /// Whether the caller may be in a domain of its own.
    pub(super) fn may_be_inside(&self, caller: &Caller) -> bool {
        match self.known {
            Known::Nobody { .. } => false,
            Known::Nothing => true,
            Known::Descendants => !self.is_outside(caller).unwrap_or(false),
        }
    }

    /// Whether nobody from the caller up to the command's own process is listed; nothing where somebody is gone.
    fn is_outside(&self, caller: &Caller) -> Option<bool> {
        let mut process = caller.process()?;
        let mut parent = process_of(process).parent()?;
        for _ in 0..DEEPEST {
            if self.inside.contains(&process) {
                return Some(false);
            }
            if process == self.target {
                return Some(true);
            }
            if parent <= 1 {
                return None;
            }
            let next = process_of(parent).parent()?;
            // Where it has ended meanwhile, another one may have its number.
            if process_of(process).parent()? != parent {
                return None;
            }
            (process, parent) = (parent, next);
        }
        None
    }
}

const fn process_of(id: u32) -> Caller {
    Caller::new(id, None)
}
