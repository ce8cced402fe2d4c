// Reading and writing datasets the same way in every command.
#pragma once

#include <string>

#include <fmt/format.h>

#include <sheaf/io.hpp>
#include <sheaf/pipeline.hpp>
#include <sheaf/solvers/profile.hpp>

#include "arguments.hpp"
#include "common.hpp"
#include "data/prepare/precision.hpp"
#include "terminal.hpp"

namespace sheaf::cli {

/// Whether an option of reading names a column that only training uses: order, weight and split.
bool is_for_training(std::string_view name);
/// The reading options, with the input's format as --format.
void declare_reading(Arguments& arguments, ReadOptions& options, bool training = false);
/// The writing options, under names that do not clash with those of reading.
void declare_writing(Arguments& arguments, WriteOptions& options);

/// " --label class --group patient": the flags for the roles of columns and the kind of labels, for a command that
/// reads the same table.
std::string column_flags(const ReadOptions& options);
/// " --impute median --scale standard": the flags of the steps before the model.
std::string pipeline_flags(const PipelineOptions& options);

/// On standard error.
void say_notes(const std::vector<std::string>& notes);
void say_findings(const std::vector<Finding>& findings);

/// Whether `path` can be read only once: standard input, a pipe, a device.
bool is_read_once(const std::string& path);
/// Throws NeedsDouble, to read `path` again; an Error if it can be read only once.
[[noreturn]] void need_double(const std::string& path, std::string why);

/// Reads a dataset and reports on standard error what was decided. Throws NeedsDouble if float is too little.
template <class T>
Dataset<T> read_table(const Common& common, const Context& context, const std::string& path,
                      const ReadOptions& options) {
  auto dataset = read_dataset<T>(context, path, options);
  if constexpr (std::is_same_v<T, float>)
    if (auto why = why_double(context, dataset); !why.empty()) need_double(path, std::move(why));
  if (!common.quiet()) say_notes(dataset.notes);
  return dataset;
}

/// JSON on standard output and a dataset there too would mix.
void check_output(const Common& common, const std::string& path);

/// Reports the dataset that a command has written.
void announce(const Common& common, const std::string& path, std::int64_t rows, std::int64_t features,
              std::int64_t stored, bool sparse);

template <class T>
void write_table(const Common& common, const Context& context, const Dataset<T>& dataset, const std::string& path,
                 const WriteOptions& options) {
  check_output(common, path);
  write_dataset(context, dataset, path, options);
  announce(common, path, dataset.rows(), dataset.features(), stored(dataset.x), is_sparse(dataset.x));
}

}  // namespace sheaf::cli
