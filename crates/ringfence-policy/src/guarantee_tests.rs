use super::*;

#[test]
fn pro_70_all_256_sets_survive_the_named_form() {
    for bits in 0..=u8::MAX {
        let guarantees = Guarantees::from_bits(bits).unwrap();
        assert_eq!(guarantees.bits(), bits);
        assert_eq!(Guarantees::from(GuaranteeSet::from(guarantees)), guarantees);
    }
}

#[test]
fn pro_70_each_bit_has_its_value_and_lights_exactly_one_field() {
    let fields = [
        ("process_boundary", 1),
        ("write_boundary", 2),
        ("read_boundary", 4),
        ("env_scrub", 8),
        ("network_boundary", 16),
        ("address_network", 32),
        ("resource_limits", 64),
        ("target_network", 128),
    ];
    for (name, bit) in fields {
        let set = GuaranteeSet::from(Guarantees::from_bits(bit).unwrap());
        let json = serde_json::to_value(set).unwrap();
        let lit: Vec<_> = json
            .as_object()
            .unwrap()
            .iter()
            .filter(|(_, on)| **on == true)
            .map(|(name, _)| name)
            .collect();
        assert_eq!(lit, [name]);
    }
}

#[test]
fn guarantees_read_as_names() {
    let both = Guarantees::ENV_SCRUB | Guarantees::PROCESS_BOUNDARY;
    assert_eq!(both.to_string(), "process_boundary, env_scrub");
    assert_eq!(Guarantees::empty().to_string(), "none");
    assert_eq!(
        serde_json::to_string(&both).unwrap(),
        r#"["process_boundary","env_scrub"]"#
    );
}

#[test]
fn pro_71_levels_fail_closed() {
    assert_eq!(
        [Level::None, Level::Degraded, Level::Full].map(u8::from),
        [0, 1, 2]
    );
    assert_eq!(Level::default(), Level::None);
    assert_eq!(Level::try_from(2), Ok(Level::Full));
    assert_eq!(
        Level::try_from(3).unwrap_err().to_string(),
        "level 3 is out of range 0..=2"
    );
}
