//! Completion of the command line by shells.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use clap_complete::Shell;

use crate::cli::{self, SHELLS};
use crate::ending::{Ended, input, reason};
use crate::quoted::quoted;

const NAME: &str = "phb-switch";

/// The shell of this name, or the user's if there is no name.
pub fn shell(name: &str) -> Result<Shell, Ended> {
    let current = std::env::var_os("SHELL").unwrap_or_default();
    let current = Path::new(&current).file_name().unwrap_or_default();
    let name = if name.is_empty() {
        current.to_string_lossy()
    } else {
        name.into()
    };
    match name.as_ref() {
        "bash" => Ok(Shell::Bash),
        "zsh" => Ok(Shell::Zsh),
        "fish" => Ok(Shell::Fish),
        other => {
            let (other, known) = (quoted(other), SHELLS.join(", "));
            input(format!("completion for {other}: expected one of {known}"))
        }
    }
}

pub fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut cli::command(), NAME, &mut script);
    String::from_utf8_lossy(&script).into()
}

/// Puts the script where the shell finds it; gives a message about it.
pub fn install(shell: Shell) -> Result<String, Ended> {
    let Some(home) = std::env::var_os("HOME").filter(|home| !home.is_empty()) else {
        return input("--install-completion: there is no HOME");
    };
    let path = install_in(Path::new(&home), shell).or_else(|(path, error)| {
        let path = path.display();
        input(format!("--install-completion {path}: {}", reason(&error)))
    })?;
    let path = path.display();
    Ok(format!(
        "{shell} completion installed in {path}\nCompletion will take effect once you restart the terminal\n"
    ))
}

fn install_in(home: &Path, shell: Shell) -> Result<PathBuf, (PathBuf, io::Error)> {
    let (place, start_up) = match shell {
        Shell::Zsh => (
            home.join(".zfunc").join(format!("_{NAME}")),
            Some((
                ".zshrc",
                "fpath+=~/.zfunc; autoload -Uz compinit; compinit".to_owned(),
            )),
        ),
        Shell::Fish => (
            home.join(".config/fish/completions")
                .join(format!("{NAME}.fish")),
            None,
        ),
        _ => {
            let place = home.join(".bash_completions").join(format!("{NAME}.sh"));
            let line = format!("source '{}'", place.display());
            (place, Some((".bashrc", line)))
        }
    };
    let write = || {
        fs::create_dir_all(place.parent().unwrap_or(home))?;
        fs::write(&place, script(shell))
    };
    write().map_err(|error| (place.clone(), error))?;
    if let Some((file, line)) = start_up {
        let path = home.join(file);
        add_line(&path, &line).map_err(|error| (path, error))?;
    }
    Ok(place)
}

/// Adds a line to a file, unless it is there already.
fn add_line(path: &Path, line: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.read(true).append(true).create(true).open(path)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    if text.lines().any(|other| other.trim() == line) {
        return Ok(());
    }
    let separator = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    file.seek(io::SeekFrom::End(0))?;
    file.write_all(format!("{separator}{line}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_added_once() {
        let path = std::env::temp_dir().join(format!("phb-switch-rc-{}", std::process::id()));
        fs::write(&path, "a line without an end").expect("a temporary file can be written");
        for _ in 0..2 {
            add_line(&path, "source 'x'").expect("it can be written");
        }
        let text = fs::read_to_string(&path);
        fs::remove_file(&path).expect("it is there");
        assert_eq!(
            text.ok().as_deref(),
            Some("a line without an end\nsource 'x'\n")
        );
    }

    #[test]
    fn shells() {
        for name in SHELLS {
            let script = shell(name).map(script).unwrap_or_default();
            assert!(script.contains("grpc-server-addr"), "{name}");
        }
        assert!(shell("tcsh").is_err());
    }
}
