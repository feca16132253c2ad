//! The protocols of plans, spelled as specs.

use ldp_estimators::plan::{Kind, Protocol};

/// The name of a kind of protocol.
pub fn plan_name(kind: Kind) -> &'static str {
    match kind {
        Kind::OneStage => "one-stage",
        Kind::DuchiRogers => "duchi-rogers",
        Kind::TwoStage => "two-stage",
        Kind::Joseph => "joseph",
        Kind::ThreeStage => "three-stage",
    }
}

/// The spec of a planned protocol.
///
/// ```
/// use ldp_catalog::plan_spec;
/// use ldp_estimators::plan::Protocol;
/// assert_eq!(plan_spec(&Protocol::TwoStage { start: 0.5, first_stage: 300 }), "two-stage:start=0.5,first-stage=300");
/// ```
pub fn plan_spec(protocol: &Protocol) -> String {
    let name = plan_name(protocol.kind());
    match protocol {
        Protocol::OneStage { start } => format!("{name}:start={start}"),
        Protocol::DuchiRogers { start, range } => format!("{name}:start={start},range={range}"),
        Protocol::TwoStage { start, first_stage } => format!("{name}:start={start},first-stage={first_stage}"),
        Protocol::Joseph { low, high, pilot } => format!("{name}:low={low},high={high},pilot={pilot}"),
        Protocol::ThreeStage { low, high, pilot, first_stage } => {
            format!("{name}:low={low},high={high},pilot={pilot},first-stage={first_stage}")
        }
    }
}
