//! Python, its processes and its packages.

use std::fs;
use std::path::Path;

use crate::support::{Place, installed};

/// The Python that a distribution's modules belong to; another one may come first in `PATH`.
const SYSTEM_PYTHON: &str = "/usr/bin/python3";

/// A virtual environment with its pip, and a pool, which needs semaphores in `/dev/shm`.
#[test]
fn python_environment_and_process_pool() {
    if !installed(
        "real_work_python",
        &[&["python3", "-c", "import ensurepip, venv, multiprocessing"]],
    ) {
        return;
    }
    let place = Place::new();
    let program = "\
from multiprocessing import Pool
import sys

def square(number):
    return number * number

if __name__ == '__main__':
    with Pool(2) as pool:
        print(sum(pool.map(square, range(1000))), sys.prefix != sys.base_prefix)
";
    fs::write(place.file("pool.py"), program).unwrap();
    let script = "python3 -m venv env && env/bin/python -m pip --version >pip && env/bin/python pool.py";
    let done = place.sh(&[], script).succeeded();
    assert_eq!(done.stdout, "332833500 True\n");
    let pip = fs::read_to_string(place.file("pip")).unwrap();
    assert!(
        pip.contains(place.workspace().to_str().unwrap()),
        "not the environment's pip: {pip}"
    );
}

/// Both are files in `/dev/shm`, which is the command's own.
#[test]
fn s_10_processes_share_a_lock_and_memory_that_are_not_the_hosts() {
    if !installed(
        "real_work_python",
        &[&["python3", "-c", "import multiprocessing"]],
    ) {
        return;
    }
    let program = "\
from multiprocessing import Lock, Process, shared_memory

def count(lock, name):
    memory = shared_memory.SharedMemory(name)
    for _ in range(500):
        with lock:
            memory.buf[:4] = (int.from_bytes(memory.buf[:4], 'big') + 1).to_bytes(4, 'big')
    memory.close()

if __name__ == '__main__':
    memory = shared_memory.SharedMemory(create=True, size=4)
    lock = Lock()
    counters = [Process(target=count, args=(lock, memory.name)) for _ in range(4)]
    for counter in counters:
        counter.start()
    for counter in counters:
        counter.join()
    print(int.from_bytes(memory.buf[:4], 'big'))
    memory.close()
    memory.unlink()
";
    let place = Place::new();
    place.write("count.py", program);
    let done = place.ringfence(["run", "--", "python3", "count.py"]).succeeded();
    assert_eq!(done.stdout, "2000\n");
    let name = place.workspace().file_name().unwrap().to_str().unwrap();
    let shared = Path::new("/dev/shm").join(name);
    let script = format!("echo x >{}", shared.display());
    let mut unconfined = place.unconfined("sh");
    unconfined.args(["-c", &script]).status().unwrap();
    let is_there = fs::remove_file(&shared).is_ok();
    place.sh(&[], &script).succeeded();
    assert!(is_there && !shared.exists());
    let done = place
        .ringfence(["explain", shared.to_str().unwrap(), "write"])
        .succeeded();
    let said = "allowed: the command's private file systems, at /dev/shm;";
    assert!(done.stdout.contains(said), "{done:?}");
}

/// A manager listens on a socket deep in `TMPDIR`; the path of a socket may have 107 bytes.
#[test]
fn processes_share_the_objects_of_a_manager() {
    if !installed(
        "real_work_python",
        &[&["python3", "-c", "import multiprocessing.managers"]],
    ) {
        return;
    }
    let program = "\
from multiprocessing import Manager, Process

if __name__ == '__main__':
    with Manager() as manager:
        numbers = manager.list([1])
        process = Process(target=numbers.append, args=(2,))
        process.start()
        process.join()
        print(list(numbers))
";
    let place = Place::new();
    place.write("manage.py", program);
    let done = place.ringfence(["run", "--", "python3", "manage.py"]).succeeded();
    assert_eq!(done.stdout, "[1, 2]\n");
}

#[test]
fn s_17_python_compiles_a_module() {
    if !installed("real_work_python", &[&["python3", "-c", "import py_compile"]]) {
        return;
    }
    let place = Place::new();
    place.write("module.py", "print('compiled')\n");
    let script = r#"
        compiled=$(python3 -c 'import py_compile; print(py_compile.compile("module.py"))') &&
        rm module.py && python3 "$compiled" && ls __pycache__
    "#;
    let done = place.sh(&[], script).succeeded();
    let listed = done.stdout.strip_prefix("compiled\nmodule.");
    assert!(listed.is_some_and(|name| name.ends_with(".pyc\n")), "{done:?}");
}

#[test]
fn s_17_pip_builds_a_wheel_of_a_local_package_offline() {
    let modules = "import setuptools, pip, wheel";
    if !installed("real_work_pip", &[&[SYSTEM_PYTHON, "-c", modules]]) {
        return;
    }
    let place = Place::new();
    let project = "\
[build-system]
requires = ['setuptools']
build-backend = 'setuptools.build_meta'
[project]
name = 'greeting'
version = '1.0'
";
    place.write("package/pyproject.toml", project);
    place.write("package/greeting/__init__.py", "text = 'hello'\n");
    let script = format!(
        "
        set -e
        pip='{SYSTEM_PYTHON} -m pip --quiet --no-input'
        $pip wheel --no-build-isolation --no-deps --no-index --wheel-dir wheels ./package && ls wheels
        $pip install --no-index --target site wheels/*.whl
        PYTHONPATH=site {SYSTEM_PYTHON} -c 'import greeting; print(greeting.text, greeting.__file__)'
        "
    );
    let done = place.sh(&[], &script).succeeded();
    let installed_at = place.file("site/greeting/__init__.py");
    let expected = format!(
        "greeting-1.0-py3-none-any.whl\nhello {}\n",
        installed_at.display()
    );
    assert_eq!(done.stdout, expected, "{done:?}");
}

/// The workers talk over pipes; each has directories of its own in `TMPDIR`.
#[test]
fn pytest_spreads_tests_over_two_workers() {
    if !installed(
        "real_work_pytest",
        &[&[SYSTEM_PYTHON, "-c", "import pytest, xdist"]],
    ) {
        return;
    }
    let place = Place::new();
    let tests = "\
import pytest

@pytest.mark.parametrize('number', range(4))
def test_in_a_worker(number, worker_id, tmp_path):
    (tmp_path / 'worker').write_text(worker_id)
    assert (tmp_path / 'worker').read_text() in ('gw0', 'gw1')

def test_that_fails():
    assert 1 + 1 == 3
";
    place.write("test_work.py", tests);
    let done = place.ringfence(["run", "--", SYSTEM_PYTHON, "-m", "pytest", "-n", "2"]);
    assert_eq!(done.status, 1, "{done:?}");
    assert!(done.stdout.contains("1 failed, 4 passed"), "{done:?}");
}
