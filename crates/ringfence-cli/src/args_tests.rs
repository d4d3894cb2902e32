use clap::CommandFactory;

use super::*;

fn parse(arguments: &[&str]) -> Run {
    let arguments = [&["ringfence", "run"], arguments].concat();
    match Arguments::try_parse_from(arguments).unwrap().task {
        Task::Run(run) => *run,
        other => panic!("{other:?}"),
    }
}

#[test]
fn options_end_where_the_command_begins() {
    let run = parse(&["-v", "ls", "-l", "--help"]);
    assert!(run.report.verbose);
    assert_eq!(run.command, ["ls", "-l", "--help"]);
}

#[test]
fn an_option_that_can_be_repeated_takes_one_value_at_a_time() {
    let run = parse(&[
        "--secret", "a", "--secret", "b,c", "--cache", "go,pip", "make", "d",
    ]);
    let path = |path: &str| Place::Path(path.into());
    assert_eq!(run.policy.files.secret, [path("a"), path("b,c")]);
    assert_eq!(run.policy.programs.cache.len(), 2);
    assert_eq!(run.command, ["make", "d"]);
}

#[test]
fn the_definition_is_consistent() {
    Arguments::command().debug_assert();
}

/// One table feeds help, man pages and completions: what it has a text for is explained everywhere.
#[test]
fn every_option_and_every_task_has_a_text_and_a_heading() {
    let mut whole = Arguments::command();
    whole.build();
    for task in whole.get_subcommands() {
        assert!(task.get_about().is_some(), "{} has no text", task.get_name());
        for argument in task
            .get_arguments()
            .filter(|argument| argument.get_id() != "help")
        {
            let name = format!("{} {argument}", task.get_name());
            assert!(argument.get_help().is_some(), "{name} has no text");
            let needs_heading = task.get_arguments().count() > 5 && !argument.is_positional();
            let heading = argument.get_help_heading();
            assert_eq!(heading.is_some(), needs_heading, "{name} is under {heading:?}");
        }
    }
}

#[test]
fn every_task_has_a_man_page() {
    let whole = Arguments::command();
    let tasks: Vec<_> = whole.get_subcommands().map(clap::Command::get_name).collect();
    assert_eq!(tasks, TASKS);
}
