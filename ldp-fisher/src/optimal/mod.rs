//! The most informative ε-private mechanism, and the proof that nothing is better.
//!
//! - [`response`]: the best randomised response on intervals of the score, for any family at any ε, in milliseconds.
//! - [`certify`]: the same with a [`Certificate`], a bound on *all* ε-private mechanisms that can be checked again.
//! - [`switches`]: the levels at which one more report begins to pay.
//! - [`Cells`]: a family on finitely many cells, given by hand: dynamic programming ([`Cells::grouping`]), the same with a
//!   bound for all mechanisms ([`Cells::certify`]), exact pricing ([`Cells::price`]) and the linear program of all
//!   mechanisms ([`Cells::program`]).
//! - [`sign_proof`]: the proof of [KS25] that up to ε = 1.048 the sign is optimal for a Gaussian mean, executable.
//!
//! # Why the bound is a bound
//!
//! Let s be the score of a family at θ with density p, β any function of the score with ∫|β|p finite, and $E = e^\varepsilon$.
//! With $c(x, t) = 2t\,s(x) - t^2 - \beta(s(x))$ let
//!
//! $$G(t) = \int p\,[c + (E-1)\,c_+].$$
//!
//! If $G(t) \le 0$ for all t, no ε-private mechanism Q has more information than $\int \beta p$: its density satisfies
//! $a(z) \le q(z|x) \le E\,a(z)$ against a measure ν with $\int a\,d\nu \le 1$, and with t(z) the score of report z
//!
//! $$I - \int\beta p = \int\nu(dz)\int q(z|x)\,c(x, t(z))\,p(x)\,dx \le \int a(z)\,G(t(z))\,\nu(dz) \le 0.$$
//!
//! Nothing is quantised. β is piecewise linear in the score, so every integral is a probability or its derivative in θ, from
//! the model's cdf. G is a supremum of parabolas with second derivative at least −2E, so between two points it exceeds its
//! values there by at most $E(b-a)^2/4$: halving proves $G \le 0$ on the finite range of scores that a report can have.
//!
//! [KS25]: https://arxiv.org/abs/2402.04840

mod beta;
mod between;
mod cells;
mod certificate;
mod columns;
mod cutting;
mod dual;
mod dynamic;
mod intervals;
mod inverse;
mod nearest;
mod prices;
mod pricing;
mod proof;
mod response;
mod search;
pub mod sign_proof;
mod simplex;
mod sorted;
mod switches;
mod tent;
mod tight;

pub use beta::{Beta, MOST_KNOTS};
pub use cells::Cells;
pub use certificate::{CERTIFICATE_VERSION, Certificate, MOST_EPSILON, Verified, certify};
pub use columns::{Program, Report};
pub use dynamic::Grouping;
pub use pricing::Priced;
pub use response::{Response, largest, response, response_with};
pub use sorted::CertifiedGrouping;
pub use switches::{Switch, switches};
