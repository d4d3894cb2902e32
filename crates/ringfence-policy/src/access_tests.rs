use super::*;

#[test]
fn pro_1_access_numbers_are_frozen_and_ordered_from_strict_to_lenient() {
    assert_eq!(
        [Access::Deny, Access::Gated, Access::Allow].map(u8::from),
        [0, 1, 2]
    );
    assert!(Access::Deny < Access::Gated && Access::Gated < Access::Allow);
    assert_eq!(Access::default(), Access::Deny);
    assert_eq!(ABI_VERSION, 1);
}

#[test]
fn pro_2_home_and_isolation_default_to_the_stricter_value() {
    assert_eq!([Home::Isolated, Home::Real].map(u8::from), [0, 1]);
    assert_eq!(
        [Isolation::Sandboxed, Isolation::Unconfined].map(u8::from),
        [0, 1]
    );
    assert_eq!(
        (Home::default(), Isolation::default()),
        (Home::Isolated, Isolation::Sandboxed)
    );
    assert!(Home::Isolated < Home::Real && Isolation::Sandboxed < Isolation::Unconfined);
}

#[test]
fn pol_12_reading_running_and_writing_are_three_bits_and_none_is_no_access() {
    let bits = |verdict: Verdict| -> u8 {
        let open = Axis::ALL.map(|axis| u8::from(verdict.get(axis) == Access::Allow));
        open[0] + 2 * open[1] + 4 * open[2]
    };
    assert_eq!(
        Axis::ALL,
        [Axis::Read, Axis::Execute, Axis::Write],
        "the order that gives the bits their values"
    );
    assert_eq!((bits(Verdict::DENY), Verdict::default()), (0, Verdict::DENY));
    assert_eq!((bits(Verdict::READ_ONLY), bits(Verdict::READ_WRITE)), (3, 7));
    for number in 0..8 {
        let access = |bit: u8| match number & bit {
            0 => Access::Deny,
            _ => Access::Allow,
        };
        let verdict = Verdict {
            read: access(1),
            execute: access(2),
            write: access(4),
        };
        assert_eq!((bits(verdict), verdict.allows_any()), (number, number != 0));
    }
}

#[test]
fn pro_12_numbers_out_of_range_are_refused_with_value_and_range() {
    for number in 0..=2 {
        assert_eq!(Access::try_from(number).map(u8::from), Ok(number));
    }
    let refused = Access::try_from(3).unwrap_err();
    assert_eq!(
        refused,
        OutOfRange {
            what: "access",
            value: 3,
            max: 2
        }
    );
    assert_eq!(refused.to_string(), "access 3 is out of range 0..=2");
    assert_eq!(Home::try_from(2).unwrap_err().max, 1);
    assert_eq!(Isolation::try_from(2).unwrap_err().what, "isolation");
    assert_eq!(Access::try_from(255).unwrap_err().value, 255);
}

#[test]
fn verdicts_meet_on_each_axis_alone() {
    let data = Verdict::READ_WRITE.with_execute(Access::Deny);
    assert_eq!(
        data.meet(Verdict::READ_ONLY),
        Verdict {
            read: Access::Allow,
            ..Verdict::DENY
        }
    );
    assert_eq!(Verdict::new(Access::Gated, Access::Allow).execute, Access::Gated);
    assert!(data.allows_any());
    assert!(!Verdict::new(Access::Gated, Access::Gated).allows_any());
}

#[test]
fn verdicts_read_as_words_in_json() {
    let json = serde_json::to_string(&Verdict::new(Access::Allow, Access::Gated)).unwrap();
    assert_eq!(json, r#"{"read":"allow","execute":"allow","write":"gated"}"#);
}
