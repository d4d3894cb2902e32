//! What the host and the zygote say to each other.
//!
//! The host starts the zygote with two descriptors: the control socket and a pidfd of the host. Its first message, a
//! [`Beginning`], is all that the namespaces depend on; the second, perhaps much later, brings the *plan* in a sealed
//! file. Everything is native-endian: both ends are one machine.
//! A byte string is a `u32` length, the bytes, and a NUL, so that the zygote hands it to the kernel in place.

/// Descriptor of the control socket in the zygote.
pub const CONTROL_FD: i32 = 3;
/// Descriptor of the host's pidfd in the zygote.
pub const HOST_FD: i32 = 4;

/// First word of a [`Beginning`].
pub const BEGINNING_MAGIC: u32 = 0x5246_4201;
/// First word of a plan; changes with every change of the layout.
pub const PLAN_MAGIC: u32 = 0x5246_5a03;
/// First word of a command.
pub const COMMAND_MAGIC: u32 = 0x5246_4302;

/// Message on the control socket, with the plan's file: build the view. Everything but a [`Beginning`] comes after it.
pub const PLAN: u8 = b'p';
/// Request on the control socket: make a spare. Spares come in the order they were asked for.
pub const SPARE_REQUEST: u8 = b's';
/// Request on the control socket, with a socket for the answer: make a spare that has a terminal. Its process 1 sends
/// the terminal's master on the report socket.
pub const TERMINAL_REQUEST: u8 = b't';
/// Request on the control socket, with a number (a `u32`) of the host's choice, a socket for the answer and a terminal: put
/// the terminal's present settings back when the host is gone. With the number alone: do that no more; no answer follows.
pub const RESTORE_REQUEST: u8 = b'r';

/// Plan flag: create a user namespace and map the caller's ids to themselves.
pub const USER_NAMESPACE: u32 = 1;
/// Plan flag: create a network namespace and bring its loopback up.
pub const NETWORK_NAMESPACE: u32 = 1 << 1;
/// Plan flag: mount `/proc` read-only (callers with user id 0 own its files).
pub const READ_ONLY_PROC: u32 = 1 << 2;
/// Plan flag: create a cgroup namespace.
pub const CGROUP_NAMESPACE: u32 = 1 << 3;
/// Plan flag: mount no `/proc`, which the kernel allows nobody whose own one is covered in part.
pub const NO_PROC: u32 = 1 << 4;
/// Plan flag: commands may make namespaces of their own, with other roots in them.
pub const NESTED_NAMESPACES: u32 = 1 << 5;
/// The flags that a [`Beginning`] has.
pub const NAMESPACES: u32 = USER_NAMESPACE | NETWORK_NAMESPACE | CGROUP_NAMESPACE;

/// Mount attribute of a view operation, as `mount_setattr(2)` counts them.
pub const ATTR_RDONLY: u64 = 1;
/// See [`ATTR_RDONLY`].
pub const ATTR_NOSUID: u64 = 2;
/// See [`ATTR_RDONLY`].
pub const ATTR_NODEV: u64 = 4;
/// See [`ATTR_RDONLY`].
pub const ATTR_NOEXEC: u64 = 8;

/// Declares a `u8` enum with a checked conversion from the wire and a stable name per value.
macro_rules! wire_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $value:literal $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $name { $($(#[$vmeta])* $variant = $value,)* }

        impl $name {
            /// Every value, in wire order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The value with this number on the wire, if there is one.
            #[must_use]
            pub const fn from_wire(value: u8) -> Option<Self> {
                match value { $($value => Some(Self::$variant),)* _ => None }
            }

            /// A stable, readable name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

wire_enum! {
    /// One kind of operation that builds the file view, executed in plan order.
    ViewOp {
        /// Bind `source` (whose device and inode must match) at `target`, recursively, with attributes.
        Bind = 1 "bind",
        /// A fresh tmpfs of `size` bytes at `target`, with attributes and mode.
        Tmpfs = 2 "tmpfs",
        /// A directory that must not exist yet or already be one.
        Directory = 3 "directory",
        /// An empty file, to mount onto.
        File = 4 "file",
        /// A symbolic link `target` with the content `source`.
        Link = 5 "link",
        /// A fresh devpts instance.
        Devpts = 6 "devpts",
        /// An inaccessible empty file over `target`.
        MaskFile = 7 "mask file",
        /// Make the one mount at `target` read-only.
        Seal = 8 "seal",
        /// Bind `target` onto itself, so that it can't be renamed or removed.
        Pin = 9 "pin",
        /// A read-only copy of the file `source` (whose device and inode must match), `size` bytes at most.
        Copy = 10 "copy",
        /// As [`ViewOp::MaskFile`], where there is such a file for whoever has all capabilities here: nobody else gets
        /// at it then either.
        MaskSocket = 11 "mask socket",
    }
}

wire_enum! {
    /// A step of the set-up; a failure names it together with the errno and the path it worked on.
    Step {
        /// The embedded program could not be started.
        Start = 1 "start the zygote",
        /// The plan could not be mapped or did not parse.
        Plan = 2 "read the plan",
        /// `unshare(2)` of the namespaces.
        Unshare = 3 "create namespaces",
        /// Writing `/proc/self/setgroups`, `uid_map` or `gid_map`.
        IdMap = 4 "map user and group id",
        /// Starting the zygote's process 1.
        Fork = 5 "start process 1 of the executor",
        /// Joining a new session keyring.
        Keyring = 6 "join a new session keyring",
        /// Bringing the loopback interface up.
        Loopback = 7 "bring the loopback interface up",
        /// Making the mount tree private and mounting the new root.
        Root = 8 "mount the private root",
        /// Opening what a bind shows.
        Source = 9 "open the source of a bind",
        /// What stands at the source is no longer what the policy was compiled for.
        Changed = 10 "compare the source with the compiled policy",
        /// Finding the place of an operation in the new root.
        Target = 11 "open the target of a view operation",
        /// One view operation itself.
        View = 12 "build the file view",
        /// Mounting `/proc` for the executor.
        ExecutorProc = 13 "mount the executor's /proc",
        /// `pivot_root(2)` and detaching the old root.
        Pivot = 14 "enter the private root",
        /// Emptying the bounding set and locking securebits.
        Privilege = 15 "drop privileges",
        /// Creating the process, sockets or namespaces of a spawn.
        Spare = 16 "start process 1 of the spawn",
        /// Mounting `/proc` of a spawn.
        SpawnProc = 17 "mount the spawn's /proc",
        /// Creating the Landlock ruleset or one of its rules.
        Ruleset = 18 "build the Landlock ruleset",
        /// Applying the Landlock ruleset.
        Landlock = 19 "apply the Landlock ruleset",
        /// Installing the system-call filter.
        Filter = 20 "install the system-call filter",
        /// Starting a new session, resource limits, standard streams.
        Session = 21 "prepare session and streams",
        /// The command message was malformed.
        Command = 22 "read the command",
        /// Entering the working directory.
        Chdir = 23 "enter the working directory",
        /// `execve(2)`: the program was not found or is not executable.
        Exec = 24 "execute the program",
        /// Mounting the spawn's own devpts, opening a terminal in it, making it the controlling one.
        Terminal = 25 "open a terminal",
        /// Installing the filter that asks the broker, or finding a guarded directory.
        Broker = 26 "set up the broker",
    }
}

/// A message type that is its bytes: `repr(C)`, only integers, no padding, any bytes are a value.
///
/// # Safety
/// Implementors have exactly these properties.
pub unsafe trait Plain: Copy {}

/// A set-up failure as it crosses the control, report and command sockets: step, errno, then path bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Failure {
    /// Always [`FAILURE_TAG`].
    pub tag: u32,
    /// The [`Step`].
    pub step: u32,
    /// The errno of the failing call.
    pub errno: i32,
    /// Bytes of the path that follow in [`Failure::path`].
    pub path_len: u32,
    /// The path the step worked on, cut at the buffer's end.
    pub path: [u8; 1024],
}

// SAFETY: four 4-byte integers and a byte array whose length is a multiple of 4.
unsafe impl Plain for Failure {}
// SAFETY: three 4-byte integers.
unsafe impl Plain for Exit {}
// SAFETY: two 4-byte integers.
unsafe impl Plain for SignalRequest {}
// SAFETY: seven 4-byte integers.
unsafe impl Plain for CommandHeader {}
// SAFETY: five 4-byte integers.
unsafe impl Plain for Beginning {}

/// The first message to a zygote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Beginning {
    /// Always [`BEGINNING_MAGIC`].
    pub magic: u32,
    /// Which namespaces, as plan flags.
    pub flags: u32,
    /// User id to map to itself.
    pub uid: u32,
    /// Group id to map to itself.
    pub gid: u32,
    /// The [`Step`] at which to fail instead of acting; 0 for none.
    pub fault: u32,
}

/// Tag of a [`Failure`].
pub const FAILURE_TAG: u32 = 1;
/// Tag of a message that says: ready.
pub const READY_TAG: u32 = 2;
/// Tag of an [`Exit`].
pub const EXIT_TAG: u32 = 3;
/// Tag of a message that says: no process of the spawn is left but its process 1.
pub const EMPTY_TAG: u32 = 4;

/// The end of a command, sent by process 1 of its spawn at once.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Exit {
    /// Always [`EXIT_TAG`].
    pub tag: u32,
    /// Wait status of the command as `wait4(2)` gave it.
    pub status: i32,
    /// 1 if no other process of the spawn is left; else a message with [`EMPTY_TAG`] follows when that is so.
    pub empty: u32,
}

/// A request to a spawn's process 1: send a signal.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SignalRequest {
    /// Signal number.
    pub signal: i32,
    /// 1 for every process of the spawn, 0 for the command's process group.
    pub everyone: u32,
}

/// First bytes of a command; `length` bytes follow: resource limits (a `u32` and a `u64` each), cwd with the device and
/// inode it must have (a `u64` each; inode 0: any), program candidates, arguments, environment.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CommandHeader {
    /// Always [`COMMAND_MAGIC`].
    pub magic: u32,
    /// Bytes that follow.
    pub length: u32,
    /// Number of paths to try for the program, in order.
    pub programs: u32,
    /// Number of arguments, the invoked name included.
    pub arguments: u32,
    /// Number of environment entries.
    pub environment: u32,
    /// Number of resource limits.
    pub limits: u32,
    /// Which of the streams 0, 1, 2 are the spawn's terminal, as bits.
    pub terminal: u32,
}

/// Reads the wire format in place, without allocation; every getter answers `None` at the first misfit.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Starts at the first byte.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The next byte.
    pub fn u8(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// The next `u32`.
    pub fn u32(&mut self) -> Option<u32> {
        let (first, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u32::from_ne_bytes(*first))
    }

    /// The next `u64`.
    pub fn u64(&mut self) -> Option<u64> {
        let (first, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u64::from_ne_bytes(*first))
    }

    /// The next byte string, its NUL included.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.u32()?).ok()?.checked_add(1)?;
        if self.rest.len() < length {
            return None;
        }
        let (bytes, rest) = self.rest.split_at(length);
        self.rest = rest;
        (bytes.last() == Some(&0)).then_some(bytes)
    }

    /// Whether nothing is left.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}
