//! No public function panics on a number out of its range: it answers, or returns an error.

use ldp_bulk::{at_least, bernoulli, bits_of_packed, counts_of_packed, first, planes};
use ldp_core::channel::Dense;
use ldp_core::inference::{check_level, wald_interval};
use ldp_core::model::Gaussian;
use ldp_core::special::{beta, binomial, gamma, normal};
use ldp_core::steady::{Divisor, divide, look_up};
use ldp_core::{Bits, Cuts, Epsilon, FiniteChannel, Kernel, Partition, Rescale};
use ldp_simulate::seed::{Purpose, stream};
use ldp_simulate::{Binomial, CountTable, Summary, draw_binomial, falls_below};
use std::panic::{AssertUnwindSafe, catch_unwind};

const NUMBERS: [f64; 14] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    f64::MAX,
    f64::MIN,
    1.0,
    -1.0,
    0.5,
    1.5,
    1e-300,
];
const WHOLE: [u64; 7] = [0, 1, 2, 7, 1 << 32, u64::MAX - 1, u64::MAX];

fn calls<T>(name: &str, call: impl FnOnce() -> T) {
    assert!(catch_unwind(AssertUnwindSafe(call)).is_ok(), "{name} panics");
}

fn short(whole: u64) -> u32 {
    u32::try_from(whole).unwrap_or(u32::MAX)
}

#[test]
fn of_special_functions() {
    for a in NUMBERS {
        calls(&format!("normal({a})"), || [normal::pdf(a), normal::cdf(a), normal::sf(a), normal::ln_cdf(a)]);
        calls(&format!("quantile({a})"), || normal::quantile(a));
        calls(&format!("ln_gamma({a})"), || gamma::ln_gamma(a));
        for b in NUMBERS {
            calls(&format!("mass({a}, {b})"), || normal::mass(a, b));
            calls(&format!("gamma({a}, {b})"), || gamma::regularized(a, b));
            // Beyond 1e15 the beta function takes long.
            for c in NUMBERS.into_iter().filter(|c| !(b.max(*c) > 1e15)) {
                calls(&format!("beta({b}, {c}, {a})"), || beta::regularized(b, c, a));
                calls(&format!("beta quantile({a}, {b}, {c})"), || beta::quantile(a, b, c));
            }
        }
    }
    for (k, n) in WHOLE.into_iter().flat_map(|k| WHOLE.map(|n| (k, n))) {
        for p in NUMBERS {
            calls(&format!("pmf({k}, {n}, {p})"), || [binomial::pmf(k, n, p), binomial::ln_pmf(k, n, p)]);
            calls(&format!("cdf({k}, {n}, {p})"), || [binomial::cdf(k, n, p), binomial::sf(k, n, p)]);
        }
    }
}

#[test]
fn of_channels() {
    for (large, small) in WHOLE.into_iter().flat_map(|a| WHOLE.map(|b| (a, b))) {
        calls(&format!("ratio({large}, {small})"), || (Epsilon::of_ratio(large, small).is_ok(), large));
        calls(&format!("wide ratio({large}, {small})"), || {
            Epsilon::of_wide_ratio(u128::from(large) << 64, u128::MAX - u128::from(small)).is_ok()
        });
        calls(&format!("covers({large}, {small})"), || Epsilon::new(1.0).unwrap().covers(large, small));
        calls(&format!("divide({large}, {small})"), || divide(large, small));
        calls("columns", || Dense::new(vec![vec![large, small], vec![small]]).is_ok());
        calls("response", || {
            FiniteChannel::new(Partition::Threshold(0.0), Kernel::Response { reports: short(large), lie: small })
                .is_ok()
        });
    }
    let level = Epsilon::new(1.0).unwrap();
    let partitions = NUMBERS.into_iter().flat_map(|a| {
        NUMBERS.into_iter().flat_map(move |b| {
            let periodic = WHOLE.map(|cells| Partition::Periodic { origin: a, width: b, cells: short(cells) });
            let cuts = Cuts::new(vec![a, b]).ok().map(Partition::Cuts);
            periodic.into_iter().chain(cuts).chain([Partition::Threshold(a)])
        })
    });
    for partition in partitions {
        for x in NUMBERS {
            calls(&format!("{partition:?}.cell({x})"), || partition.cell(x));
            calls("shifted", || partition.clone().shifted(x).is_ok());
            calls("rescaled", || partition.clone().rescale(x).is_ok());
        }
        calls("channel", || FiniteChannel::new(partition.clone(), Kernel::response(level, 3).unwrap()).is_ok());
    }
    let half = 1 << 63;
    let dense = Dense::new(vec![vec![1, u64::MAX], vec![half, half]]).unwrap();
    let channels = [Kernel::response(level, 2).unwrap(), Kernel::Dense(dense)]
        .map(|kernel| FiniteChannel::new(Partition::Threshold(0.0), kernel).unwrap());
    for (cell, report) in WHOLE.into_iter().flat_map(|a| WHOLE.map(|b| (short(a), short(b)))) {
        calls(&format!("weight({cell}, {report})"), || channels.each_ref().map(|channel| channel.weight(cell, report)));
        calls(&format!("look_up({cell})"), || look_up(&[1, 2, 3], cell));
    }
    for (a, b) in NUMBERS.into_iter().flat_map(|a| NUMBERS.map(|b| (a, b))) {
        calls(&format!("{a} / {b}"), || {
            (Divisor::new(b).share(a), WHOLE.map(|w| Divisor::new(b).residue(a, short(w))))
        });
    }
}

#[test]
fn of_draws_and_tallies() {
    let rng = || stream(1, Purpose::Noise, 0, 0);
    for p in NUMBERS {
        calls("falls_below", || WHOLE.map(|word| falls_below(word, p)));
        calls("wald", || NUMBERS.map(|e| wald_interval(p, Some(e), 0.95).is_ok()));
        calls("check_level", || check_level(p).is_ok());
        calls("at_least", || at_least(&[p; 2000], p));
        calls("epsilon", || Epsilon::new(p).map(|level| WHOLE.map(|m| Kernel::response(level, short(m)).is_ok())));
        calls("gaussian", || Gaussian::new(p).is_ok());
        // Beyond 2⁴⁰ trials are summed in parts, and 2⁶⁴ of them take long.
        for users in WHOLE.map(|users| users % (1 << 41)) {
            calls(&format!("binomial({users}, {p})"), || draw_binomial(users, p, &mut rng()).is_ok());
            calls("prepared", || Binomial::new(users, p).map(|law| law.draw(&mut rng())).is_ok());
            calls("table", || NUMBERS.map(|q| CountTable::new(users, [p, q]).map(|table| table.draw(&mut rng()))));
        }
        calls("summary", || {
            let mut summary = Summary::new(p, p, &[]);
            NUMBERS.into_iter().for_each(|x| summary.push_value(x));
            NUMBERS.map(|level| summary.mse_interval(level))
        });
    }
    for users in WHOLE {
        calls("first", || first(users as usize));
        calls("planes", || planes(short(users)));
        calls("bernoulli", || {
            let ([], [_], [_, _]) =
                (bernoulli(users, &mut rng()), bernoulli(users, &mut rng()), bernoulli(users, &mut rng()));
        });
        calls("bits", || (bits_of_packed(&[1, 2], users).is_ok(), WHOLE.map(|ones| Bits::new(ones, users).is_ok())));
        calls("counts", || [0, 1, 2, 3, 300].map(|reports| counts_of_packed(reports, &[1, 2], users).is_ok()));
    }
}
