#include "data/read/other_files.hpp"

#include <algorithm>
#include <array>

#include "core/fail.hpp"

namespace sheaf {
namespace {

struct OtherFile {
  std::size_t offset;
  std::string_view bytes;   ///< that stand there
  std::string_view inside;  ///< a text that its beginning or end holds; empty: any
  std::string_view what;
  std::string_view remedy;
};

constexpr std::string_view save_as_csv = "open it there and save the sheet as CSV (in UTF-8)";
constexpr std::string_view read_as_is = "--format auto reads it";
constexpr std::string_view unpack = "unpack it and name the file inside";

/// The first that fits counts.
constexpr std::array table_of_others{
    OtherFile{0, "PK\x03\x04", "xl/", "a workbook of Excel (.xlsx)", read_as_is},
    OtherFile{0, "PK\x03\x04", "opendocument.spreadsheet", "a spreadsheet of LibreOffice (.ods)", save_as_csv},
    OtherFile{0, "PK\x03\x04", ".npy", "an archive of NumPy arrays (.npz)", read_as_is},
    OtherFile{0, "PK\x03\x04", "", "a zip archive", unpack},
    OtherFile{0, "PK\x05\x06", "", "an empty zip archive", "name a file with a table"},
    OtherFile{0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "", "a workbook of Excel (.xls)", save_as_csv},
    OtherFile{0, "PAR1", "", "a Parquet file",
              "write it from Python: pandas.read_parquet('table.parquet').to_csv('table.csv', index=False)"},
    OtherFile{0, "ARROW1", "", "a Feather or Arrow file",
              "write it from Python: pandas.read_feather('table.feather').to_csv('table.csv', index=False)"},
    OtherFile{0, "\x89HDF\r\n\x1A\n", "", "an HDF5 file",
              "of those, BIOM tables, AnnData and 10x files are read (--format auto)"},
    OtherFile{0, "\x93NUMPY", "", "a NumPy array (.npy)", read_as_is},
    OtherFile{0, "MATLAB 5.0 MAT-file", "", "a file of MATLAB (.mat)", "write it there: writematrix(x, 'table.csv')"},
    OtherFile{0, "RDX2\n", "", "a workspace of R (.RData)",
              "write it there: write.csv(x, 'table.csv', row.names = FALSE)"},
    OtherFile{0, "RDX3\n", "", "a workspace of R (.RData)",
              "write it there: write.csv(x, 'table.csv', row.names = FALSE)"},
    OtherFile{0, std::string_view("X\n\0\0\0", 5), "", "an object of R (.rds)",
              "write it there: write.csv(readRDS('table.rds'), 'table.csv', row.names = FALSE)"},
    OtherFile{0, "$FL2", "", "a file of SPSS (.sav)", "save it there as CSV"},
    OtherFile{0, "SQLite format 3", "", "a database of SQLite",
              "export a table: sqlite3 -header -csv FILE 'select * from TABLE'"},
    OtherFile{0, "%PDF-", "", "a PDF document", "ask for the table itself, as CSV"},
    OtherFile{257, "ustar", "", "a tar archive", unpack},
    OtherFile{0, "7z\xBC\xAF\x27\x1C", "", "a 7z archive", unpack},
    OtherFile{0, "Rar!\x1A\x07", "", "a RAR archive", unpack},
    OtherFile{0, "BZh", "1AY&SY", "a file compressed by bzip2", "unpack it: bunzip2"},
};

}  // namespace

void refuse_other_files(const Reading& reading) {
  constexpr std::size_t looked_at = 1 << 16;
  const auto text = reading.text;
  const auto first = text.substr(0, looked_at);
  const auto last = text.substr(text.size() - std::min(text.size(), looked_at));  // where a zip lists its files
  for (const auto& other : table_of_others) {
    if (text.size() < other.offset || !text.substr(other.offset).starts_with(other.bytes)) continue;
    const bool inside =
        first.find(other.inside) != std::string_view::npos || last.find(other.inside) != std::string_view::npos;
    if (inside) fail("{}: is {}, not a text file; {}", reading.name, other.what, other.remedy);
  }
}

}  // namespace sheaf
