//! Small files written by the same crate's writer, whole and damaged.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, FloatType, Int32Type,
    Int64Type,
};
use ::parquet::file::properties::{WriterProperties, WriterVersion};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use tempfile::TempDir;

use super::super::tests::{named, values as stream_values, values_at};
use super::*;

/// The values of a row group, and the definition level of each row if the column is optional.
type Group<'a, T> = (&'a [T], Option<&'a [i16]>);

/// A file with one column, declared by `field`.
fn write<T: DataType>(field: &str, groups: &[Group<'_, T::T>], properties: WriterProperties) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(&format!("message m {{ {field}; }}")).unwrap());
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties)).unwrap();
    for (values, levels) in groups {
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<T>().write_batch(values, *levels, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}

fn plain() -> WriterProperties {
    WriterProperties::builder().build()
}

/// Reads `bytes` both as a file and as a stream, which must agree.
fn read_all(bytes: &[u8], options: &Options) -> Result<(Vec<f64>, u64), InputError> {
    let folder = tempfile::tempdir().unwrap();
    let from_file = values_at(&save(&folder, bytes), options);
    let from_stream = stream_values("standard input", bytes, options);
    match (&from_file, &from_stream) {
        (Ok(file), Ok(stream)) => assert_eq!(file, stream),
        (Err(_), Err(_)) => (),
        (file, stream) => panic!("{file:?} is not {stream:?}"),
    }
    from_file
}

fn save(folder: &TempDir, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join("a.parquet");
    fs::write(&path, bytes).unwrap();
    path
}

fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|index| (index as f64).sin()).collect()
}

fn variants() -> Vec<(&'static str, WriterProperties)> {
    let with = |compression, version, dictionary| {
        WriterProperties::builder()
            .set_compression(compression)
            .set_writer_version(version)
            .set_dictionary_enabled(dictionary)
            .set_data_page_size_limit(512)
            .set_write_batch_size(16)
            .build()
    };
    let zstd = Compression::ZSTD(ZstdLevel::default());
    vec![
        ("plain", with(Compression::UNCOMPRESSED, WriterVersion::PARQUET_1_0, false)),
        ("dictionary", with(Compression::UNCOMPRESSED, WriterVersion::PARQUET_1_0, true)),
        ("snappy", with(Compression::SNAPPY, WriterVersion::PARQUET_1_0, true)),
        ("gzip", with(Compression::GZIP(Default::default()), WriterVersion::PARQUET_1_0, true)),
        ("lz4", with(Compression::LZ4_RAW, WriterVersion::PARQUET_1_0, true)),
        ("zstd, second version", with(zstd, WriterVersion::PARQUET_2_0, false)),
        ("zstd, second version, dictionary", with(zstd, WriterVersion::PARQUET_2_0, true)),
    ]
}

#[test]
fn every_encoding_gives_the_same_values() {
    let values = numbers(10_000);
    for (name, properties) in variants() {
        let bytes = write::<DoubleType>(
            "required double x",
            &[(&values[..6000], None), (&values[6000..6000], None), (&values[6000..], None)],
            properties,
        );
        assert_eq!(read_all(&bytes, &Options::default()).unwrap(), (values.clone(), 0), "{name}");
        assert_eq!(read_all(&bytes, &named("x")).unwrap().0, values);
        assert_eq!(read_all(&bytes, &named("1")).unwrap().0, values);
    }
}

#[test]
fn numbers_of_other_types_are_exact() {
    let bytes = write::<FloatType>("required float x", &[(&[0.1, -3.5], None)], plain());
    assert_eq!(read_all(&bytes, &Options::default()).unwrap().0, [f64::from(0.1f32), -3.5]);
    let read_i32 =
        |field, values: &[i32]| read_all(&write::<Int32Type>(field, &[(values, None)], plain()), &Options::default());
    assert_eq!(read_i32("required int32 x", &[i32::MIN, 7]).unwrap().0, [-2_147_483_648.0, 7.0]);
    assert_eq!(read_i32("required int32 x (UINT_32)", &[-1]).unwrap().0, [4_294_967_295.0]);
    assert_eq!(read_i32("required int32 x (INTEGER(8,true))", &[-1]).unwrap().0, [-1.0]);
    assert_eq!(read_i32("required int32 x (DECIMAL(9,2))", &[-12_345, 10]).unwrap().0, [-123.45, 0.1]);
    let read_i64 =
        |field, values: &[i64]| read_all(&write::<Int64Type>(field, &[(values, None)], plain()), &Options::default());
    assert_eq!(
        read_i64("required int64 x", &[1 << 53, -(1 << 53)]).unwrap().0,
        [9_007_199_254_740_992.0, -9_007_199_254_740_992.0]
    );
    assert_eq!(read_i64("required int64 x (DECIMAL(18,18))", &[3]).unwrap().0, [3e-18]);
}

#[test]
fn an_integer_that_would_be_rounded_is_refused() {
    for (field, value, found) in [
        ("required int64 x", (1 << 53) + 1, (1 << 53) + 1),
        ("required int64 x", i64::MIN, i128::from(i64::MIN)),
        ("required int64 x (UINT_64)", -1, i128::from(u64::MAX)),
    ] {
        let bytes = write::<Int64Type>(field, &[(&[5, value], None)], plain());
        let error = read_all(&bytes, &Options::default()).unwrap_err();
        assert!(
            matches!(&error, InputError::Cell { place: Place::Row(2), found: Found::Integer(v), .. } if *v == found),
            "{error}"
        );
    }
}

#[test]
fn nulls_and_numbers_that_are_not_finite_are_bad_cells() {
    // The null is in the second row group: rows are counted through the file.
    let groups: [Group<'_, f64>; 2] = [(&[1.0, 2.0], Some(&[1, 1])), (&[4.0], Some(&[0, 1]))];
    let bytes = write::<DoubleType>("optional double x", &groups, plain());
    let error = read_all(&bytes, &Options::default()).unwrap_err();
    assert!(matches!(&error, InputError::Cell { place: Place::Row(3), found: Found::Null, .. }));
    assert!(
        error.to_string().contains("a.parquet: row 3, column \"x\": expected a finite number, found null"),
        "{error}"
    );
    let skip = Options { skip_invalid: true, ..Options::default() };
    assert_eq!(read_all(&bytes, &skip).unwrap(), (vec![1.0, 2.0, 4.0], 1));

    let bytes = write::<DoubleType>("required double x", &[(&[1.0, f64::NAN, f64::NEG_INFINITY], None)], plain());
    let error = read_all(&bytes, &Options::default()).unwrap_err();
    assert!(matches!(error, InputError::Cell { place: Place::Row(2), found: Found::NotFinite(_), .. }));
    assert_eq!(read_all(&bytes, &skip).unwrap(), (vec![1.0], 2));
}

#[test]
fn a_column_that_is_not_a_number_is_refused_by_its_type() {
    let type_of = |bytes: &[u8]| match read_all(bytes, &Options::default()) {
        Err(InputError::ColumnType { found, .. }) => found,
        other => panic!("{other:?}"),
    };
    assert_eq!(type_of(&write::<BoolType>("required boolean x", &[(&[true], None)], plain())), "BOOLEAN");
    let text = [ByteArray::from("1")];
    assert_eq!(type_of(&write::<ByteArrayType>("required binary x", &[(&text, None)], plain())), "BYTE_ARRAY");
    assert_eq!(
        type_of(&write::<ByteArrayType>("required binary x (UTF8)", &[(&text, None)], plain())),
        "BYTE_ARRAY (UTF8)"
    );
    for (field, found) in [
        ("required int64 x (TIMESTAMP_MILLIS)", "INT64 (TIMESTAMP_MILLIS)"),
        ("required int64 x (TIMESTAMP(NANOS,true))", "INT64 (TIMESTAMP)"),
        ("required int64 x (TIME_MICROS)", "INT64 (TIME_MICROS)"),
    ] {
        assert_eq!(type_of(&write::<Int64Type>(field, &[(&[1], None)], plain())), found);
    }
    assert_eq!(type_of(&write::<Int32Type>("required int32 x (DATE)", &[(&[1], None)], plain())), "INT32 (DATE)");
    let half = [FixedLenByteArray::from(vec![0, 60])];
    let field = "required fixed_len_byte_array(2) x (FLOAT16)";
    assert_eq!(
        type_of(&write::<FixedLenByteArrayType>(field, &[(&half, None)], plain())),
        "FIXED_LEN_BYTE_ARRAY (FLOAT16)"
    );
}

#[test]
fn nested_and_repeated_columns_are_refused() {
    let schema = "message m { required group g { required double x; } repeated double y; required double z; }";
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, Arc::new(parse_message_type(schema).unwrap()), Arc::new(plain()))
            .unwrap();
    let mut group = writer.next_row_group().unwrap();
    while let Some(mut column) = group.next_column().unwrap() {
        let is_repeated = matches!(column.untyped(), ::parquet::column::writer::ColumnWriter::DoubleColumnWriter(w) if w.get_descriptor().max_rep_level() > 0);
        let levels: Option<&[i16]> = is_repeated.then_some(&[1]);
        let repeats: Option<&[i16]> = is_repeated.then_some(&[0]);
        column.typed::<DoubleType>().write_batch(&[1.5], levels, repeats).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();

    assert!(matches!(read_all(&bytes, &named("g.x")), Err(InputError::NestedColumn { .. })));
    assert!(matches!(read_all(&bytes, &named("y")), Err(InputError::NestedColumn { .. })));
    assert_eq!(read_all(&bytes, &named("z")).unwrap().0, [1.5]);
    assert_eq!(read_all(&bytes, &named("3")).unwrap().0, [1.5]);
    let error = read_all(&bytes, &Options::default()).unwrap_err();
    assert!(
        matches!(&error, InputError::ColumnNeeded { available: Names::Named(names), .. } if *names == ["g.x", "y", "z"])
    );
    assert!(matches!(read_all(&bytes, &named("w")), Err(InputError::UnknownColumn { .. })));
}

#[test]
fn a_file_without_rows_is_refused() {
    for groups in [&[][..], &[(&[][..], None)]] {
        let bytes = write::<DoubleType>("required double x", groups, plain());
        assert!(matches!(read_all(&bytes, &Options::default()), Err(InputError::NoRows { .. })));
    }
}

#[test]
fn another_file_is_not_parquet() {
    let parquet = Options { layout: Some(super::super::Layout::Parquet), ..Options::default() };
    for bytes in [&b""[..], b"x\n1\n", b"PAR", b"PARE1234"] {
        let error = read_all(bytes, &parquet).unwrap_err();
        assert!(matches!(error, InputError::NotParquet { .. }), "{error}");
    }
    assert!(matches!(read_all(b"PAR1", &parquet), Err(InputError::Parquet { .. })));
    assert!(matches!(read_all(b"PAR1PAR1\nPAR1", &parquet), Err(InputError::Parquet { .. })));
}

#[test]
fn a_truncated_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = save(&folder, b"");
    for (name, properties) in variants() {
        let values = numbers(100);
        let bytes = write::<DoubleType>("required double x", &[(&values, None)], properties);
        for length in 0..bytes.len() {
            fs::write(&path, &bytes[..length]).unwrap();
            let error = values_at(&path, &Options::default()).unwrap_err();
            assert!(
                matches!(error, InputError::Parquet { .. } | InputError::NotParquet { .. }),
                "{name}, {length}: {error}"
            );
        }
    }
}

#[test]
fn a_damaged_file_never_panics_nor_loses_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = save(&folder, b"");
    let skip = Options { skip_invalid: true, ..Options::default() };
    let levels: Vec<i16> = (0..60).map(|index| i16::from(index % 3 > 0)).collect();
    for (name, properties) in variants() {
        let groups: [Group<'_, f64>; 2] = [(&numbers(40), Some(&levels)), (&[1.0], Some(&[1]))];
        let mut bytes = write::<DoubleType>("optional double x", &groups, properties);
        for index in 0..bytes.len() {
            // Every single bit for one compression (where the decoder panics in four places), one for the others.
            let bits = if name == "snappy" { 0..8 } else { index % 8..index % 8 + 1 };
            for flip in bits.map(|bit| 1 << bit).chain([0xff]) {
                bytes[index] ^= flip;
                fs::write(&path, &bytes).unwrap();
                // Many values are then different ones, and no reader can know. But there must be as many.
                if let Ok((values, skipped)) = values_at(&path, &skip) {
                    assert_eq!(values.len() as u64 + skipped, 61, "{name}, byte {index} ^ {flip:#x}");
                }
                bytes[index] ^= flip;
            }
        }
    }
}
