//! Studies: protocols side by side over grids of settings, what is kept of them and what is drawn; and the reading of data.
//!
//! ```text
//! TOML ──Study::parse──▶ Comparison ──compare::carry_out──▶ Record ──▶ record.json, data.csv, figure, page
//! file ──input::read──▶ Spool, a column of numbers that a protocol can ask
//! ```
//!
//! ```
//! use ldp_catalog::Catalog;
//! use ldp_study::study::{Outline, Study};
//!
//! let catalog = Catalog::builtin();
//! let Study::Comparison(figure) = Study::parse(&catalog, catalog.study("figure-1-left")?.source)? else { panic!() };
//! let outline = Outline::new(&catalog, &figure);
//! assert!(outline.setups().all(|setup| setup.theta == 0.5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod bootstrap;
pub mod bounded;
pub mod compare;
pub mod error;
pub mod growth;
pub mod input;
pub mod page;
pub mod plot;
pub mod record;
pub mod scenario;
pub mod study;
pub mod sweep;
