//! Node and its package manager.

use std::fs;

use crate::support::{Place, installed};

/// Files, a worker thread and a child process.
#[test]
fn a_node_script() {
    if !installed("real_work_node", &[&["node", "--version"]]) {
        return;
    }
    let place = Place::new();
    let program = "\
const { Worker, isMainThread, parentPort } = require('worker_threads');
if (isMainThread) {
    const fs = require('fs');
    const { execFileSync } = require('child_process');
    fs.writeFileSync('made.json', JSON.stringify({ child: execFileSync('echo', ['spoke']).toString() }));
    new Worker(__filename).on('message', (sum) => console.log(sum, fs.readFileSync('made.json', 'utf8')));
} else {
    parentPort.postMessage([1, 2, 3].reduce((a, b) => a + b));
}
";
    fs::write(place.file("script.js"), program).unwrap();
    let done = place.ringfence(["run", "--", "node", "script.js"]).succeeded();
    assert_eq!(done.stdout, "6 {\"child\":\"spoke\\n\"}\n");
}

/// npm keeps its cache and logs in the private home directory.
#[test]
fn s_17_npm_makes_packs_installs_and_tests_a_package_offline() {
    if !installed("real_work_npm", &[&["npm", "--version"], &["node", "--version"]]) {
        return;
    }
    let place = Place::new();
    place.write(
        "greeting/index.js",
        "module.exports = (name) => `hello ${name}`;\n",
    );
    let test =
        "require('node:assert').equal(require('greeting')('you'), 'hello you'); console.log('tested');\n";
    place.write("user/test.js", test);
    let script = "
        set -e
        (cd greeting && npm init -y >log && npm pack --silent)
        cd user && npm init -y >log && npm pkg set scripts.test='node test.js'
        npm install --offline --silent ../greeting/greeting-1.0.0.tgz && npm test --silent
        ls node_modules/greeting
    ";
    let done = place.sh(&[], script).succeeded();
    let expected = "greeting-1.0.0.tgz\ntested\nindex.js\nlog\npackage.json\n";
    assert_eq!(done.stdout, expected, "{done:?}");
}
