//! A table as a Parquet file: columns of values, written group by group.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};

/// Who writes these files.
pub(super) const CREATED_BY: &str = concat!("hprof ", env!("CARGO_PKG_VERSION"));

/// Columns by name. Any value may be missing.
#[derive(Default)]
pub(super) struct Columns(Vec<Column>);

/// A column: its name and type, and what writes its values.
struct Column {
    name: &'static str,
    physical: Physical,
    logical: Option<LogicalType>,
    /// Whether most values are close to the one before.
    is_ascending: bool,
    rows: usize,
    write: WriteValues,
}

type WriteValues = Box<dyn FnOnce(&mut ColumnWriter<'_>) -> Result<(), ParquetError>>;

/// A file under construction.
pub(super) struct TableFile<'t> {
    folder: &'t Path,
    name: &'static str,
    /// What stands in the first column of every row.
    dump: ByteArray,
    /// `None` before the first rows, which have the names and types of all.
    writer: Option<SerializedFileWriter<File>>,
}

impl<'t> TableFile<'t> {
    /// The table `name` in this folder. Its first column is `dump`, the same in every row.
    pub(super) fn new(folder: &'t Path, name: &'static str, dump: &str) -> Self {
        Self {
            folder,
            name,
            dump: dump.into(),
            writer: None,
        }
    }

    /// Writes rows, whose columns have the same order each time and are equally long. The first
    /// call makes the file, even without rows.
    pub(super) fn write(&mut self, Columns(mut columns): Columns) -> io::Result<()> {
        let rows = columns.first().map_or(0, |column| column.rows);
        let dump = std::iter::repeat_n(Some(self.dump.clone()), rows);
        let Columns(dump) = Columns::default().with::<ByteArrayType>("dump", TEXT, false, dump);
        columns.splice(0..0, dump);
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => create(self.folder, self.name, &columns)?,
        };
        let writer = self.writer.insert(writer);
        if rows == 0 {
            return Ok(());
        }
        write_group(writer, columns).map_err(failed)
    }

    /// Ends the file and has it reach the disk; its bytes.
    pub(super) fn close(self) -> io::Result<u64> {
        let Some(writer) = self.writer else {
            return Ok(0);
        };
        let file = writer.into_inner().map_err(failed)?;
        file.sync_all()?;
        Ok(file.metadata()?.len())
    }
}

fn write_group(
    writer: &mut SerializedFileWriter<File>,
    columns: Vec<Column>,
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for values in columns {
        let Some(mut column) = group.next_column()? else {
            break;
        };
        (values.write)(column.untyped())?;
        column.close()?;
    }
    group.close().map(drop)
}

/// An empty table with these columns.
fn create(folder: &Path, name: &str, columns: &[Column]) -> io::Result<SerializedFileWriter<File>> {
    let fields = columns.iter().map(|column| field(column).map(Arc::new));
    let fields = fields.collect::<Result<_, _>>().map_err(failed)?;
    let schema = Type::group_type_builder(name).with_fields(fields).build();
    let mut properties = WriterProperties::builder()
        .set_created_by(CREATED_BY.to_owned())
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true);
    for column in columns.iter().filter(|column| column.is_ascending) {
        let path = ColumnPath::from(column.name);
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    let mut options = File::options();
    // It may hold texts of the heap.
    options.write(true).create_new(true).mode(0o600);
    let file = options.open(folder.join(format!("{name}.parquet")))?;
    let schema = Arc::new(schema.map_err(failed)?);
    SerializedFileWriter::new(file, schema, Arc::new(properties.build())).map_err(failed)
}

/// A method that adds a column of this type.
macro_rules! columns {
    ($($(#[$doc:meta])* $method:ident($given:ty): $kind:ty, $logical:expr, $near:expr, $kept:expr;)*) => {
        impl Columns {
            $($(#[$doc])*
            pub(super) fn $method<T: Into<Option<$given>>>(
                self,
                name: &'static str,
                values: impl IntoIterator<Item = T>,
            ) -> Self {
                let values = values.into_iter().map(|value| value.into().map($kept));
                self.with::<$kind>(name, $logical, $near, values)
            })*
        }
    };
}

const TEXT: Option<LogicalType> = Some(LogicalType::String);

columns! {
    /// Numbers of 32 bits without a sign.
    numbers(u32): Int32Type, Some(LogicalType::integer(32, false)), false, bits;
    /// The same, most of them close to the one before.
    ascending(u32): Int32Type, Some(LogicalType::integer(32, false)), true, bits;
    /// Counts of bytes, objects or places.
    longs(u64): Int64Type, None, false, long;
    /// The same, most of them close to the one before.
    ascending_longs(u64): Int64Type, None, true, long;
    /// Numbers with a sign.
    signed(i64): Int64Type, None, false, |it| it;
    /// Milliseconds since 1970, UTC.
    times(i64): Int64Type, Some(LogicalType::timestamp(true, TimeUnit::MILLIS)), false, |it| it;
    /// Estimates.
    reals(f64): DoubleType, None, false, |it| it;
    /// Truth values.
    flags(bool): BoolType, None, false, |it| it;
}

impl Columns {
    /// With one more.
    fn with<D: DataType>(
        mut self,
        name: &'static str,
        logical: Option<LogicalType>,
        is_ascending: bool,
        values: impl Iterator<Item = Option<D::T>>,
    ) -> Self {
        let (mut levels, mut kept) = (Vec::new(), Vec::new());
        for value in values {
            levels.push(i16::from(value.is_some()));
            kept.extend(value);
        }
        self.0.push(Column {
            name,
            physical: D::get_physical_type(),
            logical,
            is_ascending,
            rows: levels.len(),
            write: Box::new(move |to| match D::get_column_writer_mut(to) {
                Some(to) => to.write_batch(&kept, Some(&levels), None).map(drop),
                None => Err(ParquetError::General(name.to_owned())),
            }),
        });
        self
    }

    /// Texts. Equal ones are kept once: a hostile file may have one long name in many rows.
    pub(super) fn texts<T: AsRef<str>>(
        self,
        name: &'static str,
        texts: impl IntoIterator<Item = Option<T>>,
    ) -> Self {
        let mut known: HashMap<Box<str>, ByteArray> = HashMap::new();
        let mut bytes = |text: T| {
            let text = text.as_ref();
            known.get(text).cloned().unwrap_or_else(|| {
                let bytes = ByteArray::from(text);
                known.insert(text.into(), bytes.clone());
                bytes
            })
        };
        let texts = texts.into_iter().map(|text| text.map(&mut bytes));
        self.with::<ByteArrayType>(name, TEXT, false, texts)
    }
}

fn field(column: &Column) -> Result<Type, ParquetError> {
    Type::primitive_type_builder(column.name, column.physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(column.logical.clone())
        .build()
}

/// The same bits with a sign: addresses, sizes and offsets are too small to have one, and hashes
/// may.
fn long(number: u64) -> i64 {
    i64::from_ne_bytes(number.to_ne_bytes())
}

/// As Parquet keeps numbers without a sign.
fn bits(number: u32) -> i32 {
    i32::from_ne_bytes(number.to_ne_bytes())
}

fn failed(fault: ParquetError) -> io::Error {
    match fault {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(fault) => *fault,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
