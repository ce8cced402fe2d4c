// Reading and writing datasets: text (LIBSVM/svmlight, CSV, ARFF, Matrix Market) and binary files (.sheaf, NumPy, BIOM,
// AnnData, 10x, Excel), plain or compressed (.gz, .xz, .zst), file or standard input. Rows are samples and columns are
// features, whatever the file's own order. docs/formats.md describes each format.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>

namespace sheaf {

/// Automatic: LIBSVM and sparse ARFF stay sparse unless more than half of all entries are stored, when dense takes no
/// more memory and is faster; CSV and dense ARFF are dense.
enum class Storage : std::uint8_t { automatic, dense, sparse };
enum class Header : std::uint8_t { automatic, yes, no };
/// Treatment of missing values: an empty field, "?", NA, N/A, NaN or null in any letter case in CSV, "?" in ARFF.
/// Statistics are those of the column over the values that are there (zeros that a sparse file leaves out included);
/// nominal features get their most frequent state for each of them. `keep` leaves NaN, for those who give missing
/// values a meaning of their own.
enum class Missing : std::uint8_t { error, mean, median, most_frequent, zero, keep };

enum class ClassOrder : std::uint8_t {
  sorted,      ///< Target::order_classes()
  appearance,  ///< as the rows bring them, as LIBLINEAR and LIBSVM do
};

/// The parts of a .sheaf file that are checked when it is opened, beside its header and its small sections, which
/// always are.
enum class Verify : std::uint8_t {
  values,     ///< that values are finite and indices are columns: one pass over the matrix
  checksums,  ///< the same, and that no byte of the file has changed since it was written
  none,       ///< nothing: a file of any size opens at once. Only for files that come from nobody else
};

/// The columns that a model was trained on. Where file and model both have names, other columns are left out, the label
/// is looked for by its name, and levels are read from the columns that had them.
struct KnownColumns {
  std::int64_t count = 0;                             ///< of features
  std::vector<std::string> features = {};             ///< names; empty: there are none, positions count
  std::vector<std::vector<std::string>> levels = {};  ///< of nominal features; empty: there are none
  std::string label = {};                             ///< empty: not known
  std::vector<std::string> further_labels = {};       ///< of a model of several targets those behind the first
};

struct ReadOptions {
  std::string format = "auto";  ///< a name from formats(), or auto: by file name, else by content
  Storage storage = Storage::automatic;
  Missing missing = Missing::error;
  std::int64_t features = 0;  ///< LIBSVM: columns to make at least (0: as many as the largest index)

  // CSV (label, group and ignored columns also for ARFF)
  Header header = Header::automatic;  ///< automatic: names are text above numbers, or one is label, class, target or y
  char delimiter = 0;                 ///< 0: found out from the first line among , ; tab |
  /// The decimal sign of CSV, '.' or ','. 0: a comma if fields are apart by ; or tab and the numbers can't be read
  /// otherwise, which `notes` reports; else a point.
  char decimal = 0;
  std::vector<std::string> missing_codes = {};  ///< CSV: texts or numbers that stand for a missing value, such as -999
  /// CSV, NumPy and Matrix Market: rows of the file are features and columns are samples.
  bool transpose = false;
  /// A column's name, its position from 1, negative from the end, or "none"; empty: in CSV a column named label, class,
  /// target or y (any case), then diagnosis, outcome or the like, else the last. Several with commas between are
  /// numeric targets of one model, unless a column has such a name itself.
  std::string label;
  std::string event;  ///< survival: name or position of the column that is 1 if the event came at the time that the
                      ///< label is, and 0 if the row is censored; empty: no survival
  // Survival: name or position of a column; empty: none.
  std::string entry = {};   ///< after which time each row is followed
  std::string strata = {};  ///< the group of rows with a baseline hazard of their own
  /// Name or position of the column whose values group the rows, or "none". Empty: in CSV a column called patient,
  /// subject, mouse or the like, if its ids identify the source of rows.
  std::string group;
  // Name or position of a column about the rows (see RowColumns), which is no feature; empty: none.
  std::string order = {};          ///< when each row was: numbers, or dates (2021-03-14, with or without a time of day)
  std::string weight_column = {};  ///< how much each row counts in training: numbers of 0 or more
  /// The name of the fold that tests each row; the two values train and test make a single split.
  std::string split_column = {};
  std::vector<std::string> ignore;  ///< names or positions of columns to leave out
  /// Names or positions of columns whose values are levels even if they are numbers. Columns without a number are
  /// nominal by themselves.
  std::vector<std::string> nominal = {};

  /// A CSV or TSV file with more columns of the rows, joined by their ids; empty: none. Label, event, group, order,
  /// weights and split may be columns of it. Rows without a line there are left out, unless `known` is given.
  std::string metadata = {};
  /// The column of ids: of `metadata` (empty: its first), and of a CSV dataset; there it gives Dataset::row_names and
  /// is no feature (not there: its first column).
  std::string id = {};
  /// A CSV or TSV file with columns of text about the features (taxonomy, gene symbol), joined by their names, which
  /// are its first column; or QIIME 2's artifact of a taxonomy. It adds to what the dataset's file says. Empty: none.
  std::string annotations = {};
  std::string layer = {};  ///< AnnData: the layer to read in place of X; empty: X
  std::string sheet = {};  ///< Excel: the name of the sheet; empty: the first

  std::vector<std::string> keep = {};  ///< CSV: names or positions of columns to carry along as they are written
  bool keep_left_out = false;          ///< CSV: carry the columns along that are no features, such as ids and dates

  Verify verify = Verify::values;  ///< .sheaf files
  /// Keeps the dataset of a text file in a .sheaf file beside it (x.csv.sheaf), and reads that one as long as the text
  /// and the options stay as they are.
  bool cache = false;

  LabelKind task = LabelKind::automatic;  ///< what the labels are; automatic: Target::looks_like_classes() decides
  std::string positive = {};              ///< the positive one of two classes; empty: positive_class() decides
  ClassOrder class_order = ClassOrder::sorted;
  std::optional<KnownColumns> known = {};  ///< of the model that the dataset is read for
};

/// One row of a table of file formats: of datasets, of matches of spectra (match_formats()) or of lists of neighbours
/// (neighbor_formats()).
struct Format {
  std::string_view name;
  std::string_view endings;  ///< space-separated, without compression endings
  std::string_view about;
  bool written = true;  ///< whether it can be written
  bool levels = false;  ///< whether nominal features keep the names of their levels; else it holds numbers only
  bool whole = false;   ///< whether it keeps all that a dataset holds; else files have one label, which is no time
};
/// The formats of datasets.
std::span<const Format> formats();
/// The one that belongs to a file's ending, compression aside; nullptr: none.
const Format* find_format_by_ending(std::span<const Format> table, std::string_view path);
/// The format that belongs to a file's ending, compression aside; empty: none.
std::string_view format_by_name(std::string_view path);

/// Endings of the compressed files this build reads and writes: .gz, .xz and .zst, each if its library was there.
std::vector<std::string_view> compressions();

/// Reads a dataset; "-" is standard input. Compressed files are known by their first bytes. Every defect of the text is
/// a ParseError that names file:line:column, or an Error for errors that concern the file as a whole (not there, a
/// directory, empty, damaged compression); the first defect in the file is reported. Neither the dataset nor the
/// message depends on the number of threads.
///
/// LIBSVM: indices ascend from 1, "#" begins a comment, "qid:N" behind the label groups the rows, labels may be any
/// word.
///   Entries are kept as written, zeros too.
/// CSV: "" inside a quoted field is one quote; empty lines are skipped; a header of nothing but positions names
///   nothing. A column without any number is nominal, its levels in the order of Target::order_classes(); one that has
///   numbers too is a defect. Dates, texts that are nearly all different, columns called id with whole numbers that
///   are all different, and ids that identify the source of rows (see options.group) are left out; thousands separators
///   and per cent signs are taken off numbers; a value beyond a limit (<0.5) is the limit; lines before the header, row
///   names without a name and rows without a label are left out. `notes` reports it. Rows without a label stay if
///   options.known is given. ARFF: the class is the last attribute unless the options choose another; one of a numeric
///   type is a numeric target and gives no classes. Nominal features hold the index of their level. String and date
///   attributes must be ignored.
template <class T>
Dataset<T> read_dataset(const Context& context, const std::string& path, const ReadOptions& options = {});

/// The same from text in memory; `name` stands for the file in messages. `options.format` must name a format.
template <class T>
Dataset<T> parse_dataset(const Context& context, std::string_view text, const std::string& name,
                         const ReadOptions& options);

struct WriteOptions {
  std::string format = "auto";  ///< by the ending of the file's name
  bool header = true;           ///< CSV: names in the first line
  char delimiter = ',';
  int digits = 0;        ///< significant digits; 0: the fewest that read back as the same number
  bool missing = false;  ///< NaN is a missing value, written as ? in CSV and ARFF; else it is an Error
};

/// Writes to a temporary beside `path` and renames it; "-" is standard output. Compresses by ending. Columns are the
/// features, the group (if there is one), the label. A file read back is the same dataset bit for bit, except for
/// content that a format cannot hold: LIBSVM has no names, leaves out zeros of dense datasets and features behind the
/// last one used, and needs a label (0 if there is none) without blanks, colons and commas; CSV writes nominal values
/// as their names.
template <class T>
void write_dataset(const Context& context, const Dataset<T>& dataset, const std::string& path,
                   const WriteOptions& options = {});

/// Writes text to `path` through a temporary that is renamed at the end; nothing is left behind on failure.
void write_text_file(const std::string& path, std::string_view text);

/// One number of 0 or more to a line, as many lines as the dataset has rows. "-" is standard input; compressed files
/// are read as such. Anything else is a ParseError with its place.
std::vector<float> read_row_weights(const std::string& path, std::int64_t rows);
/// The same with a line for each feature.
std::vector<double> read_penalty_factors(const std::string& path, std::int64_t features);

}  // namespace sheaf
