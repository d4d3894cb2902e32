//! Requests to a running command.

/// A request to a running command, by what it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Signal {
    /// As typing Ctrl-C would (`SIGINT`).
    Interrupt,
    /// Ask it to end (`SIGTERM`).
    Terminate,
    /// End it without asking (`SIGKILL`).
    Kill,
    /// A signal that only Unix has.
    Unix(UnixSignal),
}

impl Signal {
    /// The signal's number on this system; those of [`Signal::Interrupt`], [`Signal::Terminate`] and [`Signal::Kill`]
    /// are the same on every Unix.
    #[must_use]
    pub const fn number(self) -> i32 {
        match self {
            Self::Interrupt => 2,
            Self::Kill => 9,
            Self::Terminate => 15,
            Self::Unix(signal) => signal.number(),
        }
    }
}

/// Declares the signals with their numbers on Linux and on the systems that descend from BSD.
macro_rules! unix_signals {
    ($($(#[$meta:meta])* $name:ident = $linux:literal, $bsd:literal;)*) => {
        /// A signal of `signal(7)`; sent as it is, without anything that follows from it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum UnixSignal { $($(#[$meta])* $name,)* }

        impl UnixSignal {
            /// The signal's number on this system.
            #[must_use]
            pub const fn number(self) -> i32 {
                match self { $(Self::$name => if cfg!(target_os = "linux") { $linux } else { $bsd },)* }
            }
        }
    };
}

unix_signals! {
    /// `SIGHUP`: its terminal went away.
    Hangup = 1, 1;
    /// `SIGINT`, even with a terminal not only to the job in the foreground.
    Interrupt = 2, 2;
    /// `SIGTERM`, without the kill that follows [`Signal::Terminate`].
    Terminate = 15, 15;
    /// `SIGQUIT`: as typing Ctrl-\ would.
    Quit = 3, 3;
    /// `SIGUSR1`.
    User1 = 10, 30;
    /// `SIGUSR2`.
    User2 = 12, 31;
    /// `SIGALRM`.
    Alarm = 14, 14;
    /// `SIGCONT`: go on after a stop.
    Continue = 18, 19;
    /// `SIGSTOP`: stop without being asked.
    Stop = 19, 17;
    /// `SIGTSTP`: as typing Ctrl-Z would.
    TerminalStop = 20, 18;
    /// `SIGWINCH`: the terminal has another size.
    WindowChange = 28, 28;
}
