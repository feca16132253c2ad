//! What can be typed.

mod examples;
mod layout;

use crate::exit;
use clap::{ArgGroup, Args as ClapArgs, Parser, Subcommand, ValueEnum};
use examples::*;
use layout::Layout;
use ldp_catalog::{Spec, count, number};
use ldp_core::{Epsilon, IntervalKind};
use ldp_simulate::Fidelity;
use ldp_study::record::Shard;
use ldp_study::study::MOST_REPLICATIONS;
use ldp_study::sweep::Sweep;
use std::path::PathBuf;

/// The heading of the flags that every command has.
const COMMON: &str = "Common options";

/// Local differential privacy: simulate estimators, and run them on data.
#[derive(Parser)]
#[command(name = "ldp", version, propagate_version = true, after_long_help = help_tail(EXAMPLES), max_term_width = 100)]
pub struct Args {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

/// Flags of every command.
#[derive(ClapArgs, Clone)]
pub struct Common {
    /// How results are written
    #[arg(long, global = true, help_heading = COMMON, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// Seed of all random streams: same seed, same result, on any number of threads
    #[arg(long, global = true, help_heading = COMMON, value_name = "SEED", allow_hyphen_values = true, value_parser = parse_count)]
    pub seed: Option<u64>,
    /// Number of threads [default: all cores]
    #[arg(long, global = true, help_heading = COMMON, value_name = "N", allow_hyphen_values = true, value_parser = parse_threads)]
    pub threads: Option<u16>,
    /// No progress, no time and no warnings on standard error
    #[arg(long, short, global = true, help_heading = COMMON)]
    pub quiet: bool,
    /// Also write files that are there already and hold something else, which is lost
    #[arg(long, visible_alias = "force", global = true, help_heading = COMMON)]
    pub overwrite: bool,
}

/// How results are written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table for people
    Human,
    /// One JSON object
    Json,
    /// A header and one line
    Csv,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Show what there is: every name with its keys and defaults
    #[command(after_long_help = help_tail(LIST_EXAMPLES))]
    List {
        /// Only these
        #[arg(value_enum)]
        what: Option<Kind>,
    },
    /// Monte Carlo: how precise is a protocol?
    #[command(after_long_help = help_tail(SIMULATE_EXAMPLES))]
    Simulate(Simulate),
    /// The risk of a protocol without sampling: every outcome weighed by its probability
    #[command(after_long_help = help_tail(RISK_EXAMPLES))]
    Risk(Risk),
    /// How many users, asked in which rounds, for the accuracy wanted?
    #[command(after_long_help = help_tail(PLAN_EXAMPLES))]
    Plan(Plan),
    /// The private Fisher information of a mechanism: how much does a report still say?
    #[command(after_long_help = help_tail(FISHER_EXAMPLES))]
    Fisher(Fisher),
    /// The most informative mechanism at a privacy level, with the proof that nothing is better
    #[command(after_long_help = help_tail(OPTIMAL_EXAMPLES))]
    Optimal(Optimal),
    /// Protocols side by side: which should I use, and what does it cost me?
    #[command(after_long_help = help_tail(COMPARE_EXAMPLES))]
    Compare(Compare),
    /// Join the shards of a study
    #[command(after_long_help = help_tail(MERGE_EXAMPLES))]
    Merge(Merge),
    /// Run a protocol on data, one row per user
    #[command(after_long_help = help_tail(ESTIMATE_EXAMPLES))]
    Estimate(Estimate),
    /// Run a bundled study again: its numbers and figures, into a folder
    #[command(after_long_help = help_tail(REPRODUCE_EXAMPLES))]
    Reproduce(Reproduce),
    /// Print a completion script for a shell
    #[command(after_long_help = help_tail(COMPLETIONS_EXAMPLES))]
    Completions {
        /// Which shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the man page, or write one page per command into a folder
    #[command(after_long_help = help_tail(MAN_EXAMPLES))]
    Man {
        /// The folder
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// What `ldp list` can show.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// What a user can be asked
    Mechanisms,
    /// Families of distributions
    Models,
    /// Protocols
    Estimators,
    /// Bundled studies
    Studies,
}

/// `ldp fisher`.
#[derive(ClapArgs)]
pub struct Fisher {
    /// The mechanism, as a spec; give several to rank them
    #[arg(long = "mechanism", value_name = "SPEC", required = true)]
    pub mechanisms: Vec<Spec>,
    /// Where the values come from, as a spec
    #[arg(long, value_name = "SPEC", default_value = "gaussian")]
    pub model: Spec,
    /// The parameter at which the information is taken
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, value_parser = parse_number, default_value = "0")]
    pub theta: f64,
    /// Privacy level; not needed where it is swept
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, value_parser = parse_epsilon)]
    pub epsilon: Option<Epsilon>,
    /// Repeat for several values of epsilon, theta or a key of the mechanisms: KEY=FROM:TO[:COUNT][:log],
    /// 50 of them if COUNT is left out
    #[arg(long, value_name = "SWEEP", allow_hyphen_values = true)]
    pub sweep: Option<Sweep>,
    /// Write a figure of the sweep here, as PNG if the name ends in .png, otherwise as SVG
    #[arg(long, value_name = "FILE", requires = "sweep")]
    pub svg: Option<PathBuf>,
    /// Treat the mechanism as a black box: a lower confidence limit from this many samples
    #[arg(long, value_name = "DRAWS", allow_hyphen_values = true, value_parser = parse_positive)]
    pub black_box: Option<u64>,
}

/// `ldp optimal`.
#[derive(ClapArgs)]
pub struct Optimal {
    /// Where the values come from, as a spec
    #[arg(long, value_name = "SPEC", default_value = "gaussian")]
    pub model: Spec,
    /// The parameter at which the mechanism is to be best [default: 0, 1 or 1/2, the first that the model has]
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, value_parser = parse_number)]
    pub theta: Option<f64>,
    /// Privacy level; not needed where it is swept
    #[arg(
        long,
        value_name = "NUMBER",
        allow_hyphen_values = true,
        value_parser = parse_epsilon,
        required_unless_present_any = ["sweep", "verify", "switches"]
    )]
    pub epsilon: Option<Epsilon>,
    /// Write the mechanism here, as the question that is published to clients
    #[arg(long, value_name = "FILE")]
    pub export: Option<PathBuf>,
    /// Write the certificate here, for --verify
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Repeat for several values of epsilon or theta: KEY=FROM:TO[:COUNT][:log], 50 of them if COUNT is left out
    #[arg(long, value_name = "SWEEP", allow_hyphen_values = true, conflicts_with_all = ["export", "certificate"])]
    pub sweep: Option<Sweep>,
    /// Write a phase diagram of the sweep here (information, number of reports, cuts), as PNG if the name ends in .png,
    /// otherwise as SVG
    #[arg(long, value_name = "FILE", requires = "sweep")]
    pub svg: Option<PathBuf>,
    /// List the levels up to EPSILON at which the best number of reports changes
    #[arg(
        long,
        value_name = "EPSILON",
        allow_hyphen_values = true,
        value_parser = parse_epsilon,
        conflicts_with_all = ["epsilon", "export", "certificate", "sweep"]
    )]
    pub switches: Option<Epsilon>,
    /// Check a certificate instead; everything is recomputed from the model that it names
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["model", "theta", "epsilon", "export", "certificate", "sweep", "svg", "switches"]
    )]
    pub verify: Option<PathBuf>,
}

/// `ldp simulate`.
#[derive(ClapArgs)]
pub struct Simulate {
    /// The protocol, as a spec
    #[arg(long, value_name = "SPEC")]
    pub estimator: Spec,
    /// Where the values come from, as a spec
    #[arg(long, value_name = "SPEC", default_value = "gaussian")]
    pub model: Spec,
    /// The true parameter
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, value_parser = parse_number)]
    pub theta: f64,
    /// Users per replication
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = parse_positive)]
    pub users: u64,
    /// Privacy level
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, value_parser = parse_epsilon)]
    pub epsilon: Epsilon,
    /// How often the whole protocol is repeated
    #[arg(long, value_name = "N", default_value = "10000", allow_hyphen_values = true, value_parser = parse_replications)]
    pub replications: u64,
    /// Draw every user, or each tally from its exact law [default: the cheaper of what the protocol allows]
    #[arg(long, value_parser = parse_fidelity, value_name = "users|tally")]
    pub fidelity: Option<Fidelity>,
    #[command(flatten)]
    pub interval: IntervalChoice,
}

/// `ldp risk`.
#[derive(ClapArgs)]
pub struct Risk {
    /// The protocol, as a spec
    #[arg(long, value_name = "SPEC")]
    pub estimator: Spec,
    /// Where the values come from, as a spec
    #[arg(long, value_name = "SPEC", default_value = "gaussian")]
    pub model: Spec,
    /// The true parameter; not needed where it is swept
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, value_parser = parse_number, required_unless_present = "sweep")]
    pub theta: Option<f64>,
    /// How many users there are; not needed where they are swept
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = parse_positive, required_unless_present = "sweep")]
    pub users: Option<u64>,
    /// Privacy level; not needed where it is swept
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, value_parser = parse_epsilon, required_unless_present = "sweep")]
    pub epsilon: Option<Epsilon>,
    #[command(flatten)]
    pub interval: IntervalChoice,
    /// Write the distribution of the estimate here, as CSV: value,probability
    #[arg(long, value_name = "FILE")]
    pub atoms: Option<PathBuf>,
    /// Repeat for several values of users, theta, epsilon or a key of the protocol: KEY=FROM:TO[:COUNT][:log],
    /// 50 of them if COUNT is left out
    #[arg(long, value_name = "SWEEP", allow_hyphen_values = true, conflicts_with_all = ["atoms", "interval", "level"])]
    pub sweep: Option<Sweep>,
    /// Write a figure of the sweep here, as PNG if the name ends in .png, otherwise as SVG
    #[arg(long, value_name = "FILE", requires = "sweep")]
    pub svg: Option<PathBuf>,
}

/// `ldp plan`.
#[derive(ClapArgs)]
#[command(group = ArgGroup::new("prior").args(["range", "guess"]).required(true))]
#[command(group = ArgGroup::new("wanted").args(["half_width", "users"]).required(true).multiple(true))]
pub struct Plan {
    /// Privacy level
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, value_parser = parse_epsilon)]
    pub epsilon: Epsilon,
    /// The known standard deviation of the values
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, value_parser = parse_number, default_value = "1")]
    pub sigma: f64,
    /// The mean is certain to lie in here
    #[arg(long, value_name = "LOW:HIGH", allow_hyphen_values = true, value_parser = parse_range)]
    pub range: Option<[f64; 2]>,
    /// The mean is about this, as far as one knows
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, value_parser = parse_number, requires = "guess_error")]
    pub guess: Option<f64>,
    /// How far off the guess may be
    #[arg(
        long,
        value_name = "NUMBER",
        allow_hyphen_values = true,
        value_parser = parse_number,
        requires = "guess",
        conflicts_with = "range"
    )]
    pub guess_error: Option<f64>,
    /// Half of the width that intervals should have, on average over those with finite ends
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, value_parser = parse_number)]
    pub half_width: Option<f64>,
    /// How many users there are
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = parse_positive)]
    pub users: Option<u64>,
    /// The nominal coverage of the intervals
    #[arg(long, value_name = "LEVEL", default_value = "0.95", allow_hyphen_values = true, value_parser = parse_level)]
    pub level: f64,
    /// The most rounds in which users can be asked: 1, 2 or 3
    #[arg(long, value_name = "R", default_value = "3", allow_hyphen_values = true, value_parser = parse_rounds)]
    pub rounds: u32,
    /// Promise the average over all means that there can be, instead of the worst
    #[arg(long)]
    pub average: bool,
}

/// `ldp compare`.
#[derive(ClapArgs)]
pub struct Compare {
    /// The study: a TOML file, or one of 'ldp list studies' [default: default]
    #[arg(value_name = "STUDY", conflicts_with = "from")]
    pub study: Option<String>,
    /// The folder for its results; made if it is not there
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Draw this record again, without computing anything
    #[arg(long, value_name = "RECORD", conflicts_with_all = ["shard", "replications", "yes", "seed", "threads"])]
    pub from: Option<PathBuf>,
    /// Only this part of the study; 'ldp merge' joins them
    #[arg(long, value_name = "I/M")]
    pub shard: Option<Shard>,
    /// Replications of every estimator, instead of the study's: for a first look
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = parse_positive)]
    pub replications: Option<u64>,
    /// Run a study of more than 10000 points
    #[arg(long)]
    pub yes: bool,
    /// Print the table in Markdown
    #[arg(long)]
    pub markdown: bool,
}

/// `ldp merge`.
#[derive(ClapArgs)]
pub struct Merge {
    /// The folders of all shards
    #[arg(value_name = "DIR", required = true)]
    pub shards: Vec<PathBuf>,
    /// The folder for the whole; made if it is not there
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Print the table in Markdown
    #[arg(long)]
    pub markdown: bool,
}

/// `ldp reproduce`.
#[derive(ClapArgs)]
pub struct Reproduce {
    /// The study, one of 'ldp list studies'
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The folder for its results; made if it is not there
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// Which interval is reported.
#[derive(ClapArgs)]
pub struct IntervalChoice {
    /// Which interval: exact, wald, self-normalised, score, or likelihood-ratio [default: the protocol's own]
    #[arg(long, value_name = "KIND", value_parser = parse_interval)]
    pub interval: Option<IntervalKind>,
    /// Its nominal coverage
    #[arg(long, value_name = "LEVEL", default_value = "0.95", allow_hyphen_values = true, value_parser = parse_level)]
    pub level: f64,
}

/// `ldp estimate`.
#[derive(ClapArgs)]
pub struct Estimate {
    /// The data: CSV, Parquet, or one number a line; - is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The column: its name, or its number counted from 1; may be left out if there is only one
    #[arg(long, value_name = "COLUMN")]
    pub column: Option<String>,
    /// The first line of the CSV is data, not names
    #[arg(long)]
    pub no_header: bool,
    /// How the values lie in the file [default: by the extension, else by the first line]
    #[arg(long, value_enum)]
    pub layout: Option<Layout>,
    /// Skip and count cells that are not finite numbers, or no values of the model, instead of refusing the file
    #[arg(long)]
    pub skip_invalid: bool,
    /// The protocol, as a spec
    #[arg(long, value_name = "SPEC")]
    pub estimator: Spec,
    /// What is known about the values, as a spec; protocols for a mean take sigma from it
    #[arg(long, value_name = "SPEC", default_value = "gaussian")]
    pub model: Spec,
    /// Standard deviation of Gaussian noise that every user adds to the value before answering, as 'ldp plan' says; sigma of
    /// --model includes it
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, value_parser = parse_number)]
    pub blur: Option<f64>,
    /// Privacy level
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, value_parser = parse_epsilon)]
    pub epsilon: Epsilon,
    /// How rows are assigned to rounds; in the order of the file only if the rows are exchangeable
    #[arg(long, value_enum, default_value_t = RowOrder::Random)]
    pub order: RowOrder,
    #[command(flatten)]
    pub interval: IntervalChoice,
}

/// How rows are assigned to rounds.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RowOrder {
    /// At random, without replacement
    Random,
    /// In the order of the file
    File,
}

fn help_tail(examples: &str) -> String {
    format!("{examples}\n\n{}", exit::TABLE)
}

fn parse_number(text: &str) -> Result<f64, String> {
    number(text).ok_or_else(|| "expected a finite number".into())
}

fn parse_count(text: &str) -> Result<u64, String> {
    count(text).map_err(|wanted| {
        if wanted.starts_with("at most") { format!("must be {wanted}") } else { format!("expected {wanted}") }
    })
}

fn parse_positive(text: &str) -> Result<u64, String> {
    match parse_count(text)? {
        0 => Err("must be at least 1".into()),
        value => Ok(value),
    }
}

fn parse_replications(text: &str) -> Result<u64, String> {
    let replications = parse_positive(text)?;
    let few = replications <= MOST_REPLICATIONS;
    if few { Ok(replications) } else { Err(format!("must be at most {MOST_REPLICATIONS}")) }
}

fn parse_threads(text: &str) -> Result<u16, String> {
    /// More threads than any machine has cores only take memory.
    const MOST: u16 = 512;
    let threads = u16::try_from(parse_positive(text)?).ok().filter(|&threads| threads <= MOST);
    threads.ok_or_else(|| format!("must be at most {MOST}"))
}

fn parse_range(text: &str) -> Result<[f64; 2], String> {
    let ends = text.split_once(':').and_then(|(low, high)| Some([number(low.trim())?, number(high.trim())?]));
    ends.ok_or_else(|| "expected two finite numbers, LOW:HIGH".into())
}

fn parse_rounds(text: &str) -> Result<u32, String> {
    let rounds = u32::try_from(parse_count(text)?).ok().filter(|rounds| (1..=3).contains(rounds));
    rounds.ok_or_else(|| "must be 1, 2 or 3".into())
}

fn parse_epsilon(text: &str) -> Result<Epsilon, String> {
    let value = text.parse().map_err(|_| "expected a number".to_owned())?;
    Epsilon::new(value).map_err(|error| error.to_string())
}

fn parse_level(text: &str) -> Result<f64, String> {
    let level = parse_number(text)?;
    ldp_core::inference::check_level(level).map_err(|error| error.to_string())?;
    Ok(level)
}

fn parse_fidelity(text: &str) -> Result<Fidelity, String> {
    match text {
        "users" => Ok(Fidelity::Users),
        "tally" => Ok(Fidelity::Tally),
        _ => Err("expected users or tally".into()),
    }
}

fn parse_interval(text: &str) -> Result<IntervalKind, String> {
    match text {
        "exact" => Ok(IntervalKind::Exact),
        "wald" => Ok(IntervalKind::Wald),
        "self-normalised" => Ok(IntervalKind::SelfNormalised),
        "score" => Ok(IntervalKind::Score),
        "likelihood-ratio" => Ok(IntervalKind::LikelihoodRatio),
        _ => Err("expected exact, wald, self-normalised, score or likelihood-ratio".into()),
    }
}
