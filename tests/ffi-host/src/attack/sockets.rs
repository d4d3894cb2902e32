//! Sockets: which can be made, and whom they reach.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::time::{Duration, Instant};

use crate::sys::{Arg, Args, Attempt, Errno, Step, call, call_fd, put};

/// `AF_INET` as it stands in an address.
const AF_INET: u16 = 2;
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) const STEPS: &[Step] = &[
    ("socket", |args| {
        let made = call_fd!(libc::SYS_socket, args.number(0), args.number(1), args.number(2))?;
        call!(libc::SYS_close, made).map(drop)
    }),
    ("socketpair", |args| {
        call!(
            libc::SYS_socketpair,
            args.number(0),
            args.number(1),
            args.number(2),
            &mut [0; 8]
        )
        .map(drop)
    }),
    // One line for each family, type and protocol: the three numbers and what became of it.
    ("socket-table", |_| {
        for family in 0..=46 {
            for kind in [1, 2, 3, 4, 5, 6, 10] {
                for protocol in [0, 1, 6, 9, 17, 33, 132, 136, 255, 262] {
                    let made = call_fd!(libc::SYS_socket, family, kind, protocol);
                    let result = match made {
                        Ok(fd) => {
                            call!(libc::SYS_close, fd)?;
                            "open".to_owned()
                        }
                        Err(errno) => errno.to_string(),
                    };
                    println!("{family} {kind} {protocol} {result}");
                }
            }
        }
        Ok(())
    }),
    ("tcp", |args| {
        let mut stream = TcpStream::connect((args.text(0), port(args, 1)))?;
        greeting(&mut stream)
    }),
    // Data in the first packet, which makes a connection without connect(2).
    ("tcp-fast-open", |args| {
        let socket = call_fd!(libc::SYS_socket, libc::AF_INET, libc::SOCK_STREAM, 0)?;
        let mut address = [0; 16];
        let localhost = Ipv4Addr::LOCALHOST.octets();
        put(&mut address, 0, AF_INET.to_ne_bytes());
        put(&mut address, 2, port(args, 1).to_be_bytes());
        put(
            &mut address,
            4,
            args.text(0)
                .parse::<Ipv4Addr>()
                .map_or(localhost, |ip| ip.octets()),
        );
        let data: &[u8] = b"x";
        call!(
            libc::SYS_sendto,
            socket,
            data,
            Arg::word(1),
            libc::MSG_FASTOPEN,
            &mut address,
            16
        )?;
        let mut answer = [0; 1];
        match call!(libc::SYS_read, socket, &mut answer, Arg::word(1))? {
            0 => Err(Errno(libc::ENOTCONN)),
            _ => Ok(()),
        }
    }),
    ("udp", |args| {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.connect((args.text(0), port(args, 1)))?;
        socket.send(b"x")?;
        Ok(socket.recv(&mut [0; 8]).map(drop)?)
    }),
    ("unix", |args| greeting(&mut UnixStream::connect(args.text(0))?)),
    ("unix-datagram", |args| {
        Ok(UnixDatagram::unbound()?.send_to(b"x", args.text(0)).map(drop)?)
    }),
    ("abstract", |args| {
        let address = SocketAddr::from_abstract_name(args.text(0))?;
        greeting(&mut UnixStream::connect_addr(&address)?)
    }),
    ("abstract-datagram", |args| {
        let address = SocketAddr::from_abstract_name(args.text(0))?;
        Ok(UnixDatagram::unbound()?.send_to_addr(b"x", &address).map(drop)?)
    }),
    // Serves one greeting on a port of the loopback and writes its number into a file.
    ("serve", |args| {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let number = listener.local_addr()?.port().to_string();
        let unfinished = format!("{}.new", args.text(0));
        fs::write(&unfinished, number)?;
        fs::rename(unfinished, args.text(0))?;
        Ok(listener.accept()?.0.write_all(b"hello")?)
    }),
    // Serves greetings on a local socket as long as the test that started it lives.
    ("unix-serve", |args| {
        call!(libc::SYS_prctl, libc::PR_SET_PDEATHSIG, libc::SIGKILL)?;
        for stream in UnixListener::bind(args.text(0))?.incoming() {
            stream?.write_all(b"hello")?;
        }
        Ok(())
    }),
    // Waits for the file that `serve` writes and fetches the greeting.
    ("fetch", |args| {
        let begun = Instant::now();
        while fs::metadata(args.text(0)).is_err() {
            if begun.elapsed() > PATIENCE {
                return Err(Errno(libc::ETIMEDOUT));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let number: u16 = fs::read_to_string(args.text(0))?.trim().parse().unwrap_or(0);
        greeting(&mut TcpStream::connect((Ipv4Addr::LOCALHOST, number))?)
    }),
];

fn port(args: &Args<'_>, index: usize) -> u16 {
    args.text(index).parse().unwrap_or(0)
}

/// A connection counts when the other side has answered.
fn greeting(stream: &mut impl Read) -> Attempt {
    match stream.read(&mut [0; 8])? {
        0 => Err(Errno(libc::ENOTCONN)),
        _ => Ok(()),
    }
}
