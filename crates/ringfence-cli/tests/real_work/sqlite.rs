//! Databases in files: locks, and memory that processes share.

use crate::support::{Place, installed};

#[test]
fn sqlite_on_the_command_line() {
    if !installed("real_work_sqlite3", &[&["sqlite3", "--version"]]) {
        return;
    }
    let script = r#"
        set -e
        sqlite3 work.db 'PRAGMA journal_mode=WAL' 'CREATE TABLE t (n)'
        for number in 1 2 3 4; do
            sqlite3 -cmd '.timeout 30000' work.db "INSERT INTO t VALUES ($number)" &
        done
        wait
        sqlite3 work.db 'SELECT sum(n) FROM t' 'PRAGMA integrity_check'
    "#;
    let done = Place::new().sh(&[], script).succeeded();
    assert_eq!(done.stdout, "wal\n10\nok\n");
}

/// With a write-ahead log the processes share memory, which is a file beside the database.
#[test]
fn two_processes_share_a_database_of_python() {
    if !installed(
        "real_work_python_sqlite3",
        &[&["python3", "-c", "import sqlite3"]],
    ) {
        return;
    }
    let program = "\
import os, sqlite3, subprocess, sys
database = sqlite3.connect('work.db', timeout=30)
if sys.argv[1:] == ['child']:
    with database:
        database.execute('INSERT INTO t VALUES (2)')
    database.close()
else:
    print(*database.execute('PRAGMA journal_mode=WAL').fetchone())
    with database:
        database.execute('CREATE TABLE t (n)')
        database.execute('INSERT INTO t VALUES (1)')
    subprocess.run([sys.executable, __file__, 'child'], check=True)
    print(*database.execute('SELECT sum(n) FROM t').fetchone())
    print(*sorted(name for name in os.listdir() if name.startswith('work.db')))
";
    let place = Place::new();
    place.write("share.py", program);
    let done = place.ringfence(["run", "--", "python3", "share.py"]).succeeded();
    assert_eq!(done.stdout, "wal\n3\nwork.db work.db-shm work.db-wal\n");
}
