//! Parquet: one flat column of numbers, row group by row group.
//!
//! | physical type | meaning | value |
//! |---|---|---|
//! | `DOUBLE` | | as it is |
//! | `FLOAT` | | widened, exact |
//! | `INT32`, `INT64` | integer, signed or not | exact, refused above 2^53 in absolute value |
//! | `INT32`, `INT64` | decimal of scale s | the 64-bit number nearest to v / 10^s, same limit on v |
//!
//! Anything else (dates, times, booleans, text, lists) is refused by the name of its type. A null is an empty cell.
//!
//! The decoder is known to panic on some damaged files, so it runs under [`guarded`]; the rows of each row group are
//! counted against what the file announces. Damage inside a value that leaves the structure whole cannot be seen
//! without checksums.

use ::parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::DataType;
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;

use super::Options;
use super::columns::choose;
use super::error::{Found, InputError, Label, Names, Place};
use super::guard::guarded;
use super::sink::Sink;
use super::source::Source;

/// Rows decoded at once.
const BATCH: usize = 4096;
/// Up to here every integer is a 64-bit real number.
const EXACT: i128 = 1 << 53;
/// Up to here 10^s is a 64-bit real number, so that a quotient by it is rounded only once.
const EXACT_SCALE: i32 = 22;

/// Reads the wanted column of `source`; a stream is copied to a temporary file first, since the table of contents of
/// a Parquet file is at its end.
pub(super) fn read(source: Source, options: &Options, sink: &mut Sink<'_>) -> Result<(), InputError> {
    let name = source.name().to_owned();
    if !source.is_parquet() {
        return Err(InputError::NotParquet { file: name });
    }
    let file = source.into_file()?;
    let reader = decode(&name, || SerializedFileReader::new(file))?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let names = schema.columns().iter().map(|column| column.path().string()).collect();
    let index = choose(&name, options.column.as_deref(), &Names::Named(names))?.index;
    let column = schema.column(index);
    let meaning = Meaning::of(&name, &column)?;
    sink.set_column(Label::Name(column.path().string()));

    let mut row = 0;
    for group in 0..reader.num_row_groups() {
        let first = row;
        let mut batches = Batches { file: &name, optional: column.max_def_level() > 0, row: &mut row, sink };
        match decode(&name, || reader.get_row_group(group)?.get_column_reader(index))? {
            ColumnReader::DoubleColumnReader(values) => batches.feed(values, |value| Ok(*value))?,
            ColumnReader::FloatColumnReader(values) => batches.feed(values, |value| Ok(f64::from(*value)))?,
            ColumnReader::Int32ColumnReader(values) => batches.feed(values, |value| meaning.of_i32(*value))?,
            ColumnReader::Int64ColumnReader(values) => batches.feed(values, |value| meaning.of_i64(*value))?,
            // The type was checked, but each row group has its own copy of it, which may be damaged.
            _ => return Err(column_type(&name, &column)),
        }
        check_rows(&name, reader.metadata().row_group(group).num_rows(), row - first)?;
    }
    check_rows(&name, reader.metadata().file_metadata().num_rows(), row)
}

/// Damage can hide pages or whole row groups; the numbers of rows are written down in several places.
fn check_rows(file: &str, expected: i64, found: u64) -> Result<(), InputError> {
    if u64::try_from(expected) == Ok(found) {
        return Ok(());
    }
    Err(InputError::RowCount { file: file.to_owned(), expected, found })
}

/// Runs a step of the decoder.
fn decode<T>(file: &str, step: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, InputError> {
    let failed = |source| InputError::Parquet { file: file.to_owned(), source };
    guarded(step).map_err(|panicked| failed(panicked.into()))?.map_err(|error| failed(error.into()))
}

/// What the integers of a column stand for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Meaning {
    Signed,
    Unsigned,
    /// To be divided by this power of ten.
    Decimal(f64),
}

impl Meaning {
    /// The meaning of a column of numbers, one per row; an error for any other column.
    fn of(file: &str, column: &ColumnDescriptor) -> Result<Self, InputError> {
        if column.max_rep_level() > 0 || column.path().parts().len() > 1 {
            return Err(InputError::NestedColumn { file: file.to_owned(), column: column.path().string() });
        }
        let meaning = match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Integer(integer)), _) => Self::integer(integer.is_signed),
            (Some(LogicalType::Decimal(decimal)), _) => Self::decimal(decimal.scale),
            (Some(_), _) => None,
            (None, ConvertedType::DECIMAL) => Self::decimal(column.type_scale()),
            (
                None,
                ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64,
            ) => Self::integer(false),
            (
                None,
                ConvertedType::NONE
                | ConvertedType::INT_8
                | ConvertedType::INT_16
                | ConvertedType::INT_32
                | ConvertedType::INT_64,
            ) => Self::integer(true),
            (None, _) => None,
        };
        match (column.physical_type(), meaning) {
            (Physical::DOUBLE | Physical::FLOAT | Physical::INT32 | Physical::INT64, Some(meaning)) => Ok(meaning),
            _ => Err(column_type(file, column)),
        }
    }

    fn integer(signed: bool) -> Option<Self> {
        Some(if signed { Self::Signed } else { Self::Unsigned })
    }

    fn decimal(scale: i32) -> Option<Self> {
        (0..=EXACT_SCALE).contains(&scale).then(|| Self::Decimal(10f64.powi(scale)))
    }

    fn of_i32(self, value: i32) -> Result<f64, Found> {
        match self {
            Self::Unsigned => Ok(f64::from(value.cast_unsigned())),
            Self::Signed | Self::Decimal(_) => self.of_i64(i64::from(value)),
        }
    }

    fn of_i64(self, value: i64) -> Result<f64, Found> {
        let integer = match self {
            Self::Unsigned => i128::from(value.cast_unsigned()),
            Self::Signed | Self::Decimal(_) => i128::from(value),
        };
        match self {
            _ if integer.abs() > EXACT => Err(Found::Integer(integer)),
            Self::Decimal(unit) => Ok(integer as f64 / unit),
            Self::Signed | Self::Unsigned => Ok(integer as f64),
        }
    }
}

fn column_type(file: &str, column: &ColumnDescriptor) -> InputError {
    let physical = column.physical_type();
    let found = match (column.converted_type(), column.logical_type_ref()) {
        (ConvertedType::NONE, None) => physical.to_string(),
        (ConvertedType::NONE, Some(logical)) => {
            // `Timestamp(TimestampType { … })` becomes `TIMESTAMP`.
            let logical = format!("{logical:?}");
            let word = logical.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            format!("{physical} ({})", word.to_uppercase())
        }
        (converted, _) => format!("{physical} ({converted})"),
    };
    InputError::ColumnType { file: file.to_owned(), column: column.path().string(), found }
}

/// Moves the values of one row group to the sink.
struct Batches<'a, 'b> {
    file: &'a str,
    /// Whether values may be null.
    optional: bool,
    /// Rows seen so far in the whole file.
    row: &'a mut u64,
    sink: &'a mut Sink<'b>,
}

impl Batches<'_, '_> {
    fn feed<T: DataType>(
        &mut self,
        mut reader: ColumnReaderImpl<T>,
        number: impl Fn(&T::T) -> Result<f64, Found>,
    ) -> Result<(), InputError> {
        let mut values = Vec::with_capacity(BATCH);
        // One level per row: 1 for a value, 0 for a null.
        let mut levels = Vec::with_capacity(BATCH);
        loop {
            values.clear();
            levels.clear();
            let (rows, ..) = decode(self.file, || reader.read_records(BATCH, Some(&mut levels), None, &mut values))?;
            if rows == 0 {
                return Ok(());
            }
            let mut next = values.iter();
            for index in 0..rows {
                *self.row += 1;
                let place = Place::Row(*self.row);
                let present = !self.optional || levels.get(index) == Some(&1);
                match if present { next.next() } else { None }.map(&number) {
                    Some(Ok(value)) => self.sink.number(place, value)?,
                    Some(Err(found)) => self.sink.refuse(place, found)?,
                    None => self.sink.refuse(place, Found::Null)?,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
