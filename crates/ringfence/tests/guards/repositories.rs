//! Repositories that are there, that are to be, and that commands make.

use super::*;

#[test]
fn s_16_nothing_planted_in_a_repository_runs_on_the_host() {
    let canary = "touch ../canary";
    let lines = [
        format!("git config core.fsmonitor '{canary}'"),
        format!("printf '[core]\\nfsmonitor=\"{canary}\"\\n' >> .git/config"),
        format!(
            "cp .git/config .git/config.lock && printf '[core]\\nfsmonitor=\"{canary}\"\\n' >> .git/config.lock && mv .git/config.lock .git/config"
        ),
        format!(
            "git config extensions.worktreeConfig true && git config --worktree core.fsmonitor '{canary}'"
        ),
        format!(
            "mkdir -p .git/hooks && printf '#!/bin/sh\\n{canary}\\n' > .git/hooks/post-index-change && chmod +x .git/hooks/post-index-change"
        ),
        format!(
            "mkdir -p evil/objects evil/refs && cp .git/HEAD evil && printf '[core]\\nrepositoryformatversion=0\\nfsmonitor=\"{canary}\"\\n' > evil/config && echo ../evil > .git/commondir"
        ),
        "mv .git old && git init -q . ".to_owned() + &format!("&& git config core.fsmonitor '{canary}'"),
        format!("printf '[core]\\nfsmonitor=\"{canary}\"\\n' >> .git/modules/sub/config"),
    ];
    for line in &lines {
        let plant = |config: &dyn Fn(&Fixture) -> ProfileConfig| {
            let fixture = Fixture::new();
            let workspace = fixture.path("w");
            fs::create_dir(&workspace).unwrap();
            init(&workspace);
            fs::write(workspace.join("f"), "1").unwrap();
            git(&workspace, "add f");
            git(&workspace, "commit -q -m one");
            // As a submodule's repository looks.
            git(&workspace, "clone -q --bare . .git/modules/sub");
            let worktree = workspace.join("sub");
            fs::create_dir(&worktree).unwrap();
            fs::write(worktree.join(".git"), "gitdir: ../.git/modules/sub\n").unwrap();
            git(&workspace.join(".git/modules/sub"), "config core.bare false");
            git(
                &workspace.join(".git/modules/sub"),
                "config core.worktree ../../../sub",
            );
            let mut config = config(&fixture);
            config.workspace.clone_from(&workspace);
            let fenced = executor(&fixture, &config);
            let worked = works(&fenced, line);
            // Ordinary work goes on.
            assert!(
                works(
                    &fenced,
                    "echo 2 > f && git add f && git commit -q -m two && git branch b"
                ) || worked
            );
            assert!(fenced.set.close().is_clean());
            // So that git has something to write into its index, as after any change of an editor.
            let file = fs::File::options().write(true).open(workspace.join("f")).unwrap();
            file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
            for place in [&workspace, &worktree] {
                let _ = Command::new("git")
                    .arg("status")
                    .current_dir(place)
                    .output()
                    .unwrap();
            }
            (
                worked,
                fixture.path("canary").exists() || workspace.join("canary").exists(),
            )
        };
        let open = |fixture: &Fixture| guarded(fixture, Vec::new());
        let (worked, fired) = plant(&open);
        assert!(worked && fired, "without guards `{line}`: {worked}, {fired}");
        let (_, fired) = plant(&Fixture::config);
        assert!(!fired, "`{line}` fired");
    }
}

/// What a root has of a repository before it is one, and how a command makes it one that runs something.
#[test]
fn s_16_what_is_no_repository_yet_becomes_none_of_the_commands_making() {
    const ANEW: &str = "git init -q . && git config core.fsmonitor \"$RUN\"";
    const PARTS: &str =
        "{ [ -e refs ] || mkdir refs; } && { [ -e objects ] || mkdir objects; } && $HEAD && $BARE";
    const LED: &str = "mkdir -p sub/refs sub/objects && $HEAD && echo sub > commondir && $SHARED > sub/config && \
                       printf '[core]\\nbare=false\\nworktree=%s\\n' \"$PWD\" > config.worktree";
    const WHOLE: &str = "mkdir -p sub/refs sub/objects && cp $ON_A_BRANCH sub/HEAD && $OBEYED > sub/config";
    let moved = format!("mv .git old && {ANEW}");
    let instead = format!("rm -rf .git && {ANEW}");
    let part_instead = format!("rm refs && {PARTS}");
    for (there, line) in [
        ("true", PARTS),
        ("true", LED),
        ("true", ANEW),
        ("$HEAD", PARTS),
        ("$HEAD", LED),
        ("ln -s refs/heads/x HEAD", "mkdir -p refs/heads objects && $BARE"),
        (
            "ln -s nowhere HEAD",
            "rm HEAD && $HEAD && mkdir refs objects && $BARE",
        ),
        ("mkdir refs", PARTS),
        ("mkdir objects", PARTS),
        ("touch refs && chmod +x refs", PARTS),
        ("mkdir refs && touch objects && chmod +x objects", PARTS),
        ("touch f && chmod +x f && ln -s f refs", PARTS),
        ("ln -s refs refs && $HEAD", &part_instead),
        ("mkdir .git", ANEW),
        ("mkdir .git", &instead),
        ("mkdir .git && touch .git/config", &moved),
        ("mkdir -p .git/objects && touch .git/config", &moved),
        ("ln -s .git .git", &instead),
        ("touch plain && ln -s plain/x .git", &instead),
        ("echo gitdir: sub > .git", WHOLE),
        ("echo gitdir: sub > led && ln -s led .git", WHOLE),
        ("echo gitdir: sub > .git && mkdir sub", WHOLE),
        (
            "mkdir .git && echo ../sub > .git/commondir",
            "mkdir -p sub/refs sub/objects && cp $ON_A_BRANCH .git/HEAD && $OBEYED > sub/config",
        ),
    ] {
        let text = |line: &str| {
            let obeyed = "printf '[core]\\nrepositoryformatversion=0\\nfsmonitor=\"touch ../canary\"\\n'";
            let pieces = [
                ("$HEAD", "echo ref: refs/heads/x > HEAD"),
                ("$ON_A_BRANCH", "branch"),
                ("$RUN", "touch ../canary"),
                ("$OBEYED", obeyed),
                (
                    "$BARE",
                    "printf '[core]\\nbare=false\\nworktree=%s\\nrepositoryformatversion=0\\nfsmonitor=\"touch \
                     ../canary\"\\n' \"$PWD\" > config",
                ),
                (
                    "$SHARED",
                    "printf '[core]\\nrepositoryformatversion=1\\nfsmonitor=\"touch ../canary\"\\n[extensions]\\n\
                     worktreeConfig=true\\n'",
                ),
            ];
            let text = pieces
                .iter()
                .fold(line.to_owned(), |text, (name, piece)| text.replace(name, piece));
            format!("echo ref: refs/heads/x > branch && {text}")
        };
        let plant = |config: &dyn Fn(&Fixture) -> ProfileConfig| {
            let fixture = Fixture::new();
            let workspace = fixture.path("w");
            fs::create_dir(&workspace).unwrap();
            let mut prepare = Command::new("sh");
            prepare.args(["-c", &text(there)]).current_dir(&workspace);
            assert!(prepare.status().unwrap().success());
            fs::write(workspace.join("f1"), "1").unwrap();
            let mut config = config(&fixture);
            config.workspace.clone_from(&workspace);
            let set = fixture.set_with(&config);
            // A root that can't be closed is refused.
            if let Ok(executor) = set.executor("a") {
                works(&executor, &text(line));
            }
            assert!(set.close().is_clean());
            let mut status = Command::new("git");
            status.arg("status").current_dir(&workspace).output().unwrap();
            fixture.path("canary").exists()
        };
        let open = |fixture: &Fixture| guarded(fixture, Vec::new());
        assert!(plant(&open), "without guards, `{there}`: `{line}`");
        assert!(!plant(&Fixture::config), "`{there}`: `{line}`");
    }
}

/// What git obeys and `git init` would not make.
#[test]
fn s_16_odd_repositories_are_seen_as_well() {
    let config = "printf '[core]\nrepositoryformatversion=0\nfsmonitor=\"touch ../canary\"\n'";
    for line in [
        format!("mkdir -p d/.git/objects && touch d/.git/refs && chmod +x d/.git/refs && cp HEAD. d/.git/HEAD && {config} > d/.git/config"),
        "mkdir -p d/sub/objects d/sub/refs && cp HEAD. d/HEAD && echo sub > d/commondir && printf \
         '[core]\nrepositoryformatversion=1\nfsmonitor=\"touch ../canary\"\n[extensions]\nworktreeConfig=true\n' > \
         d/sub/config && printf '[core]\nbare=false\nworktree=%s/d\n' \"$PWD\" > d/config.worktree"
            .to_owned(),
    ] {
        for wanted in [NewRepositories::Report, NewRepositories::Refuse] {
            let fixture = Fixture::new();
            fs::write(fixture.path("HEAD."), "ref: refs/heads/x\n").unwrap();
            let config = ProfileConfig {
                new_repositories: wanted,
                ..fixture.config()
            };
            let fenced = executor(&fixture, &config);
            let outcome = fenced.run_command(fixture.workspace.path(), &line).unwrap();
            assert!(outcome.success(), "{outcome:?}");
            let found = &outcome.new_repositories;
            let told = found.iter().find(|found| found.path.ends_with("d"));
            let told = told.unwrap_or_else(|| panic!("{line}: {found:?}"));
            let refused = wanted == NewRepositories::Refuse;
            assert_eq!(told.refused, refused, "{line}");
            assert!(
                told.programs.iter().any(|program| program == "core.fsmonitor"),
                "{told:?}"
            );
            let mut status = Command::new("git");
            status.arg("status").current_dir(fixture.path("d")).output().unwrap();
            assert_eq!(fixture.path("canary").exists(), !refused, "{line}");
        }
    }
}

#[test]
fn s_16_new_repositories_are_reported_or_refused() {
    for wanted in [NewRepositories::Report, NewRepositories::Refuse] {
        let fixture = Fixture::new();
        init(fixture.workspace.path());
        let config = ProfileConfig {
            new_repositories: wanted,
            ..fixture.config()
        };
        let fenced = executor(&fixture, &config);
        let plant = "git init -q sub && cd sub && git -c user.name=n -c user.email=e commit -q --allow-empty -m x && \
                     git config core.fsmonitor 'touch ../canary' && cd .. && git add sub 2>/dev/null; \
                     mkdir -p bare/objects bare/refs && echo ref: refs/heads/x > bare/HEAD";
        let outcome = fenced.run_command(fixture.workspace.path(), plant).unwrap();
        assert!(outcome.success(), "{outcome:?}");
        let found = &outcome.new_repositories;
        assert_eq!(found.len(), 2, "{found:?}");
        let (bare, sub) = (&found[0], &found[1]);
        assert!(bare.path.ends_with("bare") && sub.path.ends_with("sub"));
        assert_eq!(sub.programs, ["core.fsmonitor"]);
        assert!(sub.linked && !bare.linked);
        git(fixture.workspace.path(), "status");
        let fired = fixture.path("canary").exists();
        let refused = wanted == NewRepositories::Refuse;
        assert_eq!((fired, sub.refused, bare.refused), (!refused, refused, refused));
        assert!(
            fenced
                .run_command(fixture.workspace.path(), "true")
                .unwrap()
                .new_repositories
                .is_empty()
        );
    }
}

/// A command closes what a new repository is in, or puts it where no path leads.
#[test]
fn s_16_where_new_repositories_can_not_be_looked_for_is_told() {
    let told = |text: &str| {
        let fixture = Fixture::new();
        let workspace = fixture.workspace.path();
        let fenced = executor(&fixture, &fixture.config());
        let outcome = fenced.run_command(workspace, text).unwrap();
        assert!(outcome.success(), "{outcome:?}");
        // So that it can be removed.
        let mut chmod = Command::new("chmod");
        chmod.args(["-R", "u+rwx", "."]).current_dir(workspace);
        assert!(chmod.status().unwrap().success());
        let names = |paths: Vec<PathBuf>| -> Vec<PathBuf> {
            let inside = |path: PathBuf| path.strip_prefix(workspace).unwrap().to_owned();
            paths.into_iter().map(inside).collect()
        };
        let new = outcome.new_repositories.into_iter().map(|new| new.path);
        (names(new.collect()), names(outcome.unsearched))
    };
    for (repository, text, closed) in [
        ("sub", "chmod 0311 sub", "sub"),
        ("sub", "chmod 0444 sub", "sub"),
        ("above/sub", "chmod 0 above", "above"),
    ] {
        let (repository, closed) = (vec![PathBuf::from(repository)], vec![PathBuf::from(closed)]);
        let git = repository[0].join(".git");
        let make = format!("mkdir -p {0}/objects {0}/refs", git.display());
        assert_eq!(told(&make), (repository.clone(), Vec::new()), "the control");
        // To root no mode closes anything: there it is found.
        let expected = match rustix::process::geteuid().is_root() {
            true => (repository, Vec::new()),
            false => (Vec::new(), closed),
        };
        assert_eq!(told(&format!("{make} && {text}")), expected, "{text}");
    }
    let name = "d".repeat(200);
    let (found, unsearched) = told(&format!(
        "mkdir -p {name}/.git/objects {name}/.git/refs && \
         for i in $(seq 21); do mkdir u && mv {name} u/ && mv u {name} || exit; done"
    ));
    assert!(
        found.is_empty() && unsearched.len() == 1,
        "{found:?} {unsearched:?}"
    );
    assert!(unsearched[0].starts_with(&name) && unsearched[0].as_os_str().len() > 4000);
}

#[test]
fn s_15_commits_in_a_linked_worktree_work_and_its_repository_stays_protected() {
    let fixture = Fixture::new();
    let (main, workspace) = (fixture.path("m"), fixture.path("wt"));
    fs::create_dir(&main).unwrap();
    init(&main);
    fs::write(main.join("f"), "1\n").unwrap();
    git(&main, "add f");
    git(&main, "commit -q -m one");
    git(&main, "worktree add -q ../wt -b topic");
    git(&main, "worktree add -q ../other -b other");
    git(&main, "clone -q --bare . .git/modules/sub");
    let mut config = fixture.config();
    config.workspace.clone_from(&workspace);
    let fenced = executor(&fixture, &config);
    let work = "echo 2 >> f && git add . && git commit -q -m two && echo 3 >> f && git commit -q -am three && \
                git stash list && git rebase -q HEAD~1 && git log --oneline | wc -l && git tag t && git tag -d t && \
                git branch gone && git branch -d gone 2>/dev/null; git status --porcelain";
    let outcome = fenced.run_command(&workspace, work).unwrap();
    assert!(outcome.success(), "{}", outcome.stdout.to_text());
    assert_eq!(git(&workspace, "log --oneline").lines().count(), 3);
    for line in [
        "echo x >> ../m/.git/config",
        "echo x > ../m/.git/hooks/pre-commit",
        "echo x > ../m/.git/HEAD",
        "rm -rf ../m/.git/worktrees/other/HEAD ../m/.git/worktrees/other && test ! -e ../m/.git/worktrees/other/HEAD",
        "echo x > ../m/.git/worktrees/wt/gitdir",
        "echo x > ../other/f",
        "cat ../m/f",
        "echo x > ../m/.git/commondir",
        "echo x >> ../m/.git/modules/sub/config",
        "echo x > ../m/.git/modules/sub/hooks/post-checkout",
        "echo x > ../m/.git/worktrees/wt/config.worktree",
    ] {
        assert!(!works(&fenced, line), "`{line}` works");
    }
    drop(fenced);
    // A file that anybody can write proves nothing.
    let planted = fixture.path("planted");
    fs::create_dir(&planted).unwrap();
    fs::copy(workspace.join(".git"), planted.join(".git")).unwrap();
    config.workspace.clone_from(&planted);
    let fenced = executor(&fixture, &config);
    assert!(!works(&fenced, "git log") && !works(&fenced, "ls ../m/.git"));
}
