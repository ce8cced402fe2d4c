// Datasets, compressed files, and the small files beside datasets.
#include <sheaf/solvers/glm.hpp>
#include <sheaf/solvers/scaling.hpp>

#include "data/prepare/libsvm_scaling.hpp"
#include "fuzz/cuts_check.hpp"
#include "fuzz/reader_check.hpp"
#include "fuzz/scratch.hpp"
#include "fuzz/targets.hpp"
#include "sheaf_file_bytes.hpp"

namespace sheaf::fuzz {
namespace {

template <class Read>
void allow_errors(const Read& read) {
  try {
    read();
  } catch (const Error&) {
  }
}

/// Checksums that are right, so that what stands behind them is read.
std::string sealed(std::string_view input) {
  test::SheafFileBytes file{std::string(input)};
  using Entry = sheaf_file::SectionEntry;
  if (input.size() < sizeof(sheaf_file::Header)) return file.bytes;
  const auto header = file.header();
  if (header.sections > (input.size() - sizeof(sheaf_file::Header)) / sizeof(Entry)) return file.bytes;
  file.set([&](sheaf_file::Header& h) { h.file_bytes = input.size(); });
  return file.sealed();
}

template <class T>
void check_sheaf_file(const std::string& bytes, const ReadOptions& options) {
  const auto one = read<T>(bytes, options, 1, std::int64_t{1} << 20U);
  const auto two = read<T>(bytes, options, 2, 7);
  expect(one.message == two.message, "the message does not depend on threads");
  if (!one.dataset) return;
  const auto& dataset = *one.dataset;
  const auto rows = static_cast<std::size_t>(dataset.rows());
  if (options.missing != Missing::keep) std::visit([](const auto& x) { check_matrix(x); }, dataset.x);
  for (const auto id : dataset.target.classes)
    expect(id >= 0 && id < std::ssize(dataset.target.class_names), "every class has a name");
  for (const auto id : dataset.groups)
    expect(id >= 0 && id < std::ssize(dataset.group_names), "every group has a name");
  expect(dataset.target.empty() || static_cast<std::size_t>(dataset.target.rows()) == rows, "every row has a label");
  expect(same_dataset(dataset, *two.dataset) || options.missing == Missing::keep, "two readings are the same");
}

}  // namespace

void check_libsvm(std::string_view input) { check_format("libsvm", input); }
void check_csv(std::string_view input) { check_format("csv", input); }
void check_arff(std::string_view input) { check_format("arff", input); }
void check_npy(std::string_view input) { check_format("npy", input); }
void check_npz(std::string_view input) { check_format("npz", input); }
void check_market(std::string_view input) { check_format("mtx", input); }
/// Tables in JSON. HDF5 files: see hdf5.cpp.
void check_biom(std::string_view input) {
  if (!input.starts_with("\x89HDF")) check_format("biom", input);
}
void check_xlsx(std::string_view input) { check_format("xlsx", input); }
void check_sheaf(std::string_view input) {
  const auto options = varied_options("sheaf", input);
  check_sheaf_file<double>(std::string(input), options);
  check_sheaf_file<double>(sealed(input), options);
  check_sheaf_file<float>(sealed(input), options);
}
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
