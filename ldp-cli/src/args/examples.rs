//! What the long help shows after the flags: examples, and what one should know.

/// Of the program.
pub const EXAMPLES: &str = "Examples:
  ldp list
  ldp simulate --estimator two-stage:start=0,first-stage=306 --theta 0.5 --users 1e4 --epsilon 1
  ldp risk --estimator two-stage:start=0,first-stage=306 --theta 0.5 --users 1e4 --epsilon 1
  ldp plan --epsilon 1 --guess 0.3 --guess-error 1 --half-width 0.1
  ldp optimal --epsilon 3
  ldp compare --out comparison
  ldp estimate data.csv --column x --estimator two-stage:start=30 --model gaussian:sigma=12 --epsilon 1

Things are named by a spec, name[:key=value,...]; 'ldp list' shows every name with its keys.";

/// Of `ldp list`.
pub const LIST_EXAMPLES: &str = "Examples:
  ldp list
  ldp list models --format json";

/// Of `ldp simulate`.
pub const SIMULATE_EXAMPLES: &str = "Examples:
  ldp simulate --estimator two-stage:start=0,first-stage=306 --theta 0.5 --users 1e4 --epsilon 1
  ldp simulate --estimator one-stage --model gaussian:sigma=3 --theta 1.5 --users 1e4 --epsilon 2
  ldp simulate --estimator two-stage --theta -2 --users 1e3 --epsilon 1 --fidelity users
  ldp simulate --estimator three-stage:low=0,high=128 --theta 84.5 --users 2e5 --epsilon 1

The unit of start and theta is that of the data. n*MSE comes with a 99 % interval over
replications, which cannot know of events too rare to have been seen. The bound is the asymptotic
one of regular estimators: with finitely many users, or from a perfect start, n*MSE may lie below.";

/// Of `ldp risk`.
pub const RISK_EXAMPLES: &str = "Examples:
  ldp risk --estimator two-stage:start=0,first-stage=306 --theta 0.5 --users 1e4 --epsilon 1
  ldp risk --estimator two-stage:start=0 --theta 0.5 --users 1e4 --epsilon 1 --sweep first-stage=20:3000:log --svg curve.svg
  ldp risk --estimator one-stage --model gaussian:sigma=3 --theta 1.5 --epsilon 2 --sweep users=10:1e6:20:log --format csv
  ldp risk --estimator one-stage --theta 0.5 --users 100 --epsilon 1 --atoms distribution.csv

Every tally is weighed by its probability, so rare failures count at their true weight. With many
users a coarser lattice is summed: moments are then exact to rounding, coverage to about a
thousandth. Protocols with real reports, or too many outcomes, can only be simulated.";

/// Of `ldp plan`.
pub const PLAN_EXAMPLES: &str = "Examples:
  ldp plan --epsilon 1 --guess 0.3 --guess-error 1 --half-width 0.1
  ldp plan --epsilon 0.5 --sigma 12 --range 20:60 --half-width 2
  ldp plan --epsilon 1 --guess -3 --guess-error 0.5 --users 5000 --rounds 1
  ldp plan --epsilon 1 --guess 0 --guess-error 1 --users 1e4 --half-width 0.1 --format json

With --half-width alone the plan has the fewest users, with --users alone it makes the most of them,
and with both it says whether they are enough. Promises are those of the exact risk, as ldp risk has
it, not of asymptotic formulas. A mean is certain to lie in a --range; a --guess may be wrong. Where
sigma is small beside the half-width or the range, users first add Gaussian noise to their values
(--blur of ldp estimate): the search takes fewer users then. The last two lines are the command to
run on the data and one that checks the promise by simulation.";

/// Of `ldp fisher`.
pub const FISHER_EXAMPLES: &str = "Examples:
  ldp fisher --mechanism sign:threshold=0 --theta 0.5 --epsilon 1
  ldp fisher --mechanism sign --mechanism laplace:low=-3,high=3 --mechanism duchi:low=-3,high=3 --epsilon 1
  ldp fisher --mechanism sign --mechanism interval:cuts=-0.48/0.48 --sweep epsilon=0.1:8:40 --format csv
  ldp fisher --mechanism privunit:dimension=5 --epsilon 1

The information is that of one report about the parameter; its reciprocal is the smallest
n*MSE that regular estimators can reach with the mechanism, asymptotically. Vector mechanisms see as
many independent Gaussian values as they have coordinates, and the information is that of one coordinate.";

/// Of `ldp optimal`.
pub const OPTIMAL_EXAMPLES: &str = "Examples:
  ldp optimal --epsilon 3
  ldp optimal --model exponential --theta 2 --epsilon 4 --export mechanism.json --certificate certificate.json
  ldp optimal --verify certificate.json
  ldp optimal --model gaussian --sweep epsilon=0.1:8:80 --svg phases.svg
  ldp optimal --model logistic --switches 6

The mechanism is the best randomised response on intervals of the score. The upper bound holds for
every mechanism at this epsilon, of any kind, and is proved: a certificate is the mechanism, the
function that proves the bound, and both numbers; --verify recomputes them from the model alone. An
exported mechanism is a published question: clients answer it, and servers tally the answers.";

/// Of `ldp estimate`.
pub const ESTIMATE_EXAMPLES: &str = "Examples:
  ldp estimate data.csv --column x --estimator two-stage:start=30 --model gaussian:sigma=12 --epsilon 1
  ldp estimate values.txt --estimator one-stage:start=20 --model gaussian:sigma=5 --epsilon 0.5
  zcat data.csv.gz | ldp estimate - --column x --estimator clipped-mean:low=0,high=200 --epsilon 1 --format json

What the data cannot tell has no default: 'ldp list' shows which keys are required on data.
Each row is one user. Rows are assigned to rounds at random, so a sorted file comes out right.
The noise comes from the system's generator; with --seed it can be repeated and the result is
marked as not private. A file is read once into a temporary file without a name; memory does
not grow with the number of rows.";

/// Of `ldp compare`.
pub const COMPARE_EXAMPLES: &str = "Examples:
  ldp compare --out comparison
  ldp compare figure-2 --out figure-2 --markdown
  ldp compare my-study.toml --out results --shard 1/4
  ldp compare --from results/record.json --out redrawn

Every finished point is on disk at once: interrupted, the same command goes on. The folder gets
record.json, data.csv, figure.svg, figure.png and report.html, the same bytes on any number of threads;
what differs between runs is in run.json. n*MSE has a 95 % bootstrap interval over replications, which
cannot know of events too rare to have been seen. docs/studies.md describes study files.";

/// Of `ldp merge`.
pub const MERGE_EXAMPLES: &str = "Examples:
  ldp merge shard-1 shard-2 shard-3 shard-4 --out whole

The result has the same bytes as one run of the whole study, run.json aside, which shards keep.";

/// Of `ldp reproduce`.
pub const REPRODUCE_EXAMPLES: &str = "Examples:
  ldp reproduce first-stage-growth --out growth
  ldp reproduce first-stage-growth --out growth --format csv

The folder gets record.json (settings and results), data.csv and the figures: the same bytes on any
number of threads. What differs between runs, such as the time taken, is in run.json.";

/// Of `ldp completions`.
pub const COMPLETIONS_EXAMPLES: &str = "Examples:
  ldp completions bash > ~/.local/share/bash-completion/completions/ldp
  ldp completions fish > ~/.config/fish/completions/ldp.fish";

/// Of `ldp man`.
pub const MAN_EXAMPLES: &str = "Examples:
  ldp man | man -l -
  ldp man --out ~/.local/share/man/man1";
