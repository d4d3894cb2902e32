//! Requests to one command, one after the other. Those that meet are tried in `tests/model.rs`.

use crate::requests::{Answer, Requests};

/// Counts what is passed on.
#[derive(Default)]
struct Adapter(std::cell::Cell<usize>);

impl Adapter {
    fn send(&self) {
        self.0.set(self.0.get() + 1);
    }

    fn answer(&self, result: Result<(), &'static str>) -> Result<(), &'static str> {
        self.send();
        result
    }
}

#[test]
fn sig_4_every_interrupt_is_passed_on_and_its_error_comes_back() {
    let (requests, adapter) = (Requests::new(), Adapter::default());
    assert_eq!(requests.pass(|| adapter.answer(Ok(()))), Answer::Done(Ok(())));
    assert_eq!(
        requests.pass(|| adapter.answer(Err("no"))),
        Answer::Done(Err("no"))
    );
    assert_eq!(adapter.0.get(), 2);
}

#[test]
fn sig_5_a_second_termination_gets_the_answer_of_the_first() {
    let (requests, adapter) = (Requests::new(), Adapter::default());
    assert_eq!(
        requests.terminate(|| adapter.answer(Err("no"))),
        Answer::Done(Err("no"))
    );
    assert_eq!(
        requests.terminate(|| adapter.answer(Ok(()))),
        Answer::DoneBefore(Err("no"))
    );
    assert_eq!(adapter.0.get(), 1);
}

#[test]
fn sig_9_a_kill_and_an_escalation_are_one() {
    let (requests, adapter) = (Requests::<()>::new(), Adapter::default());
    assert_eq!(requests.kill(|| adapter.send()), Answer::Done(Ok(())));
    assert_eq!(requests.kill(|| adapter.send()), Answer::DoneBefore(Ok(())));
    assert_eq!(adapter.0.get(), 1);
    assert!(requests.is_killed());
}

#[test]
fn sig_2_sig_7_after_the_end_nothing_is_passed_on() {
    let (requests, adapter) = (Requests::new(), Adapter::default());
    requests.end();
    assert_eq!(requests.pass(|| adapter.answer(Ok(()))), Answer::Ended);
    assert_eq!(requests.terminate(|| adapter.answer(Ok(()))), Answer::Ended);
    assert_eq!(requests.kill(|| adapter.send()), Answer::Ended);
    assert_eq!(adapter.0.get(), 0);
}
