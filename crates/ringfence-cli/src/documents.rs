//! `ringfence man` and `ringfence completions`: made from the table of options.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::{Arguments, Completions, Man};
use crate::failure::Failure;
use crate::report;

const NAME: &str = "ringfence";

pub(crate) fn man(options: &Man) -> Result<ExitCode, Failure> {
    report::print(&page(options.task.as_deref())?)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn completions(options: &Completions) -> Result<ExitCode, Failure> {
    report::print(&script(options.shell))?;
    Ok(ExitCode::SUCCESS)
}

/// The page of a task, such as ringfence-run(1), or of the whole command.
fn page(task: Option<&str>) -> Result<String, Failure> {
    let mut whole = Arguments::command().disable_help_subcommand(true);
    whole.build();
    let named = task.and_then(|task| whole.find_subcommand(task));
    let command = match named {
        None => whole,
        Some(task) => {
            let name = format!("{NAME}-{}", task.get_name());
            task.clone().name(name.clone()).display_name(name)
        }
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .map_err(|error| Failure::new(format!("the man page: {error}")))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), NAME, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    /// Every long option of every task.
    fn options() -> Vec<(String, String)> {
        let whole = Arguments::command();
        let tasks = whole.get_subcommands();
        tasks
            .flat_map(|task| {
                let options = task.get_arguments().filter_map(clap::Arg::get_long);
                options.map(|option| (task.get_name().to_owned(), option.to_owned()))
            })
            .collect()
    }

    #[test]
    fn man_pages_have_every_option() {
        assert!(page(None).unwrap().contains("ringfence\\-run(1)"));
        for (task, option) in options() {
            let page = page(Some(&task)).unwrap();
            let name = format!(r"\fB\-\-{}\fR", option.replace('-', r"\-"));
            assert!(page.contains(&name), "--{option} is not in the page of {task}");
            assert!(page.contains(&format!(".TH ringfence-{task} 1")), "{task}");
        }
    }

    #[test]
    fn completions_have_every_option() {
        for shell in Shell::value_variants() {
            let script = script(*shell);
            for (task, option) in options() {
                let spelled = match shell {
                    Shell::Fish => format!("-l {option}"),
                    _ => format!("--{option}"),
                };
                assert!(
                    script.contains(&spelled),
                    "{task} --{option} is not completed by {shell}"
                );
            }
        }
    }
}
