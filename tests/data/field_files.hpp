// tests/golden/formats holds one dataset in all formats of whole matrices, written by the programs of the field, and
// expected.csv, which holds its content.
#pragma once

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sheaf/io.hpp>

#include "data/hdf5/hdf5.hpp"
#include "golden.hpp"
#include "tables.hpp"

namespace sheaf::test {
namespace formats_test {

inline std::string file_of(const std::string& name) { return golden("formats/" + name); }

inline std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
  return fields;
}

/// expected.csv or counts.csv, read without Sheaf.
struct Expected {
  std::vector<std::string> features, ids, ages, subjects, diseases;
  Rows x;

  explicit Expected(const std::string& name = "expected.csv") {
    auto lines = lines_of(contents(file_of(name)));
    const auto header = fields_of(lines.front());
    features.assign(header.begin() + 1, header.begin() + 5);
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const auto fields = fields_of(lines[i]);
      ids.push_back(fields[0]);
      x.emplace_back();
      for (std::size_t j = 1; j < 5; ++j) x.back().push_back(std::stod(fields[j]));
      ages.push_back(fields[5]);
      subjects.push_back(fields[6]);
      diseases.push_back(fields[7]);
    }
  }
};

inline Rows values_of(const Dataset<double>& dataset) {
  return std::visit([](const auto& x) { return rows_of(x); }, dataset.x);
}

inline std::vector<std::string> labels_of(const Dataset<double>& dataset) {
  std::vector<std::string> labels;
  for (const auto c : dataset.target.classes) labels.push_back(dataset.target.class_names[static_cast<std::size_t>(c)]);
  return labels;
}

inline std::vector<std::string> groups_of(const Dataset<double>& dataset) {
  std::vector<std::string> groups;
  for (const auto g : dataset.groups) groups.push_back(dataset.group_names[static_cast<std::size_t>(g)]);
  return groups;
}

inline Dataset<double> read(const std::string& name, const ReadOptions& options = {}, int threads = 2) {
  return read_dataset<double>(with_threads(threads), file_of(name), options);
}

inline ReadOptions labelled(const std::string& label = "disease") {
  ReadOptions options;
  options.label = label;
  return options;
}

/// Whether this build writes HDF5 files.
inline bool has_hdf5() {
  try {
    const Hdf5Writer file((std::filesystem::temp_directory_path() / "sheaf-has-hdf5.h5").string());
    return true;
  } catch (const Error&) {
    return false;
  }
}

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "sheaf-formats-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return file(name);
  }
  bool empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::filesystem::path path_;
};

inline std::string message_of(const std::string& path, const ReadOptions& options = {}) {
  try {
    read_dataset<double>(with_threads(2), path, options);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

inline void expect_parts(const std::string& message, const std::vector<std::string>& parts) {
  for (const auto& part : parts) EXPECT_NE(message.find(part), std::string::npos) << part << "\nin: " << message;
}

}  // namespace formats_test
}  // namespace sheaf::test
