// Datasets, compressed files, and the small files beside datasets.
#include <sheaf/solvers/glm.hpp>
#include <sheaf/solvers/scaling.hpp>

#include "data/prepare/libsvm_scaling.hpp"
#include "fuzz/cuts_check.hpp"
#include "fuzz/reader_check.hpp"
#include "fuzz/scratch.hpp"
#include "fuzz/targets.hpp"

namespace sheaf::fuzz {
namespace {

template <class Read>
void allow_errors(const Read& read) {
  try {
    read();
  } catch (const Error&) {
  }
}

}  // namespace

void check_libsvm(std::string_view input) { check_format("libsvm", input); }
void check_csv(std::string_view input) { check_format("csv", input); }
void check_arff(std::string_view input) { check_format("arff", input); }
void check_npy(std::string_view input) { check_format("npy", input); }
void check_npz(std::string_view input) { check_format("npz", input); }
void check_market(std::string_view input) { check_format("mtx", input); }
/// Tables in JSON: HDF5 files are libhdf5's to read, which is not safe against every damage.
void check_biom(std::string_view input) {
  if (!input.starts_with("\x89HDF")) check_format("biom", input);
}
void check_xlsx(std::string_view input) { check_format("xlsx", input); }
void check_compressed(std::string_view input) { check_decompression(input); }
void check_cuts_file(std::string_view input) { check_cuts(input); }

/// Row weights, penalty factors, offsets and exposures.
void check_rows_file(std::string_view input) {
  constexpr std::int64_t rows = 3;
  const auto path = Scratch::file("rows", input);
  const auto check = [&](const auto& values) {
    expect(static_cast<std::int64_t>(values.size()) % rows == 0, "every row has as many numbers");
    for (const auto value : values) expect(std::isfinite(value), "every number is finite");
  };
  allow_errors([&] { check(read_row_weights(path, rows)); });
  allow_errors([&] { check(read_penalty_factors(path, rows)); });
  allow_errors([&] { check(read_offsets(path, rows)); });
  allow_errors([&] { check(read_exposures(path, rows)); });
}

/// Ranges of svm-scale, and the scaling of `sheaf scale`.
void check_scaling_file(std::string_view input) {
  const auto path = Scratch::file("scaling", input);
  allow_errors([&] { load_libsvm_scaling(path); });
  allow_errors([&] { load_scaling(path); });
}

}  // namespace sheaf::fuzz
