//! What a user of the library can't write.

/// EXE-2: an executor comes from a set and from nowhere else.
///
/// ```compile_fail
/// let executor = ringfence::Executor::default();
/// ```
///
/// ```compile_fail
/// fn made_of(inner: ringfence::backend::Launch) -> ringfence::Executor {
///     ringfence::Executor::new(inner)
/// }
/// ```
///
/// ```no_run
/// # fn from_a_set(set: ringfence::blocking::ExecutorSet) -> Result<(), ringfence::ExecutorError> {
/// let executor: ringfence::blocking::Executor = set.executor("a")?;
/// # Ok(())
/// # }
/// ```
mod executors_come_from_sets {}
