use std::collections::BTreeSet;

use super::{BundleName, NameError};
use crate::runtime::Cache;

#[test]
fn names_are_distinct_lower_case_and_read_back() {
    let names: BTreeSet<_> = BundleName::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(names.len(), BundleName::ALL.len());
    assert!(BundleName::ALL.is_sorted());
    assert_eq!(BundleName::all().len(), BundleName::ALL.len());
    for bundle in BundleName::ALL {
        let name = bundle.to_string();
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase()), "{name}");
        assert_eq!(name.parse(), Ok(*bundle));
    }
    for cache in Cache::ALL {
        assert_eq!(cache.to_string().parse(), Ok(*cache));
    }
}

#[test]
fn an_unknown_name_is_an_error_that_lists_the_known_ones() {
    let error = "Base".parse::<BundleName>().unwrap_err();
    assert_eq!(error, NameError::Bundle { name: "Base".into() });
    assert_eq!(error.to_string(), "no runtime bundle is called \"Base\"");
    assert_eq!(error.code(), "bundle_name");
    assert_eq!(
        error.hint(),
        "use one of base, tls, tz, locale, git, python, node, rust, go, java, path"
    );
    let error = "gradle".parse::<Cache>().unwrap_err();
    assert_eq!(error.code(), "cache_name");
    assert_eq!(error.to_string(), "no cache is called \"gradle\"");
    assert_eq!(error.hint(), "use one of cargo, npm, pip, go");
}
