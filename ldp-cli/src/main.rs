//! The `ldp` command, with the names that come with the framework.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    ldp_cli::main_with(ldp_catalog::Catalog::builtin())
}
