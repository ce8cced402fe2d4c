// Peptide-spectrum matches (PSMs) as PIN files hold them. Numbers are in memory; ids, peptides and proteins stay in
// the files, which are mapped, and are looked up by the place of their line: a PSM of 18 features takes about 100
// bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/solvers/array.hpp>
#include <sheaf/solvers/matrix.hpp>

#include "data/bytes/text_source.hpp"

namespace sheaf::rescore {

constexpr double proton_mass = 1.00727646688;  ///< Da

/// How the columns of a PIN file are found.
enum class PinRules : std::uint8_t {
  by_name,      ///< every column by its name; texts are never taken for a feature
  by_position,  ///< as Percolator 3.08: id, label, known optional columns, then numbers as far as the first PSM has any
};

struct PinOptions {
  PinRules rules = PinRules::by_name;
  std::string protein_separator = "\t";  ///< between the proteins of one PSM
  bool replace_not_finite = false;       ///< features that are not finite become 0 (else an error)
  std::vector<std::string> ignore;       ///< columns that are no features (by_name)
  std::string decoy_prefix;              ///< of proteins in XML files; empty: those that are usual
  bool keep_order = true;                ///< false: rows are put into an order that does not depend on the files'
};

/// Meaning of a column of a file. Columns behind the first protein are proteins too.
enum class PinColumn : std::uint8_t {
  id,
  label,
  scan,
  mass,
  calculated_mass,
  time,
  file,
  feature,
  ignored,
  peptide,
  protein
};

/// The columns of one file.
struct PinLayout {
  std::vector<PinColumn> columns;     ///< up to and with the (first) protein
  std::vector<std::int32_t> feature;  ///< of each column: its place among the features of all files; -1: none
};

/// The texts of one PSM; views into the file.
struct PsmText {
  std::string_view id, peptide, proteins, time, calculated_mass;
};

/// One PIN file, open as long as texts are needed.
struct PinFile {
  std::string name;
  std::unique_ptr<TextSource> source;  ///< none if the text was made
  PinLayout layout;
  std::unique_ptr<const std::string> made = {};  ///< from a file of another format
  bool has_units = false;                        ///< see PsmView

  std::string_view contents() const { return made ? std::string_view(*made) : source->text(); }
  PsmText text(std::int64_t line) const;
};

/// The place of a line: which file, and at which byte.
class LinePlace {
 public:
  LinePlace() = default;
  LinePlace(std::size_t file, std::int64_t byte)
      : bits_((static_cast<std::uint64_t>(file) << shift) | static_cast<std::uint64_t>(byte)) {}
  std::size_t file() const { return static_cast<std::size_t>(bits_ >> shift); }
  std::int64_t byte() const { return static_cast<std::int64_t>(bits_ & ((std::uint64_t{1} << shift) - 1)); }

 private:
  static constexpr int shift = 44;  // a million files of 16 TB
  std::uint64_t bits_ = 0;
};

template <class T>
struct Psms {
  DenseMatrix<T> x;  ///< one row a PSM, one column a feature
  std::vector<std::string> feature_names;
  Array<std::int8_t> labels;            ///< 1: target, -1: decoy
  Array<std::int32_t> scans;            ///< without such a column: the number of the line
  Array<double> masses;                 ///< measured; 0 without such a column
  Array<std::int32_t> files;            ///< of the spectrum, into file_names; empty: all are of one
  std::vector<std::string> file_names;  ///< empty: the PSMs do not name their files
  Array<LinePlace> lines;
  std::vector<double> default_direction;  ///< of the row DefaultDirection; empty: none, or all zeros
  std::vector<PinFile> pins;
  std::uint64_t fingerprint = 0;  ///< of all lines, whatever their order (if keep_order is false)
  std::vector<std::string> warnings;

  std::int64_t size() const { return labels.size(); }
  std::int64_t features() const { return x.columns; }
  std::int32_t file(std::int64_t row) const { return files.size() == 0 ? 0 : files[row]; }
  PsmText text(std::int64_t row) const { return pins[lines[row].file()].text(lines[row].byte()); }
  const T* row(std::int64_t i) const { return x.values.data() + i * x.columns; }
};

/// Reads PIN files, compressed or not, into one set. Columns that a file lacks are an error (by_name) or zeros
/// (by_position). PSMs whose label is neither 1 nor -1 are left out with a warning. The first defect is a ParseError
/// with its line and column, whatever the number of threads.
template <class T>
Psms<T> read_pins(const Context& context, const std::vector<std::string>& paths, const PinOptions& options);

}  // namespace sheaf::rescore
