#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "data/nominal.hpp"
#include "data/row_subset.hpp"
#include "data/text/exact_decimal.hpp"
#include "data/write/writing.hpp"

namespace sheaf {
namespace {

/// In quotes if it must be.
std::string quoted(const std::string& text) {
  const bool plain = !text.empty() && text != "?" && text.find_first_of(" \t\r\n,{}%'\"\\@") == std::string::npos;
  if (plain) return text;
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    if (c == '\n')
      result += "\\n";
    else if (c == '\r')
      result += "\\r";
    else
      result += c;
  }
  return result + "'";
}

std::string quoted_list(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    list += list.empty() ? '{' : ',';
    list += quoted(name);
  }
  return list + '}';
}

template <class T>
class ArffWriter : public RowWriter<T> {
 public:
  ArffWriter(const Dataset<T>& dataset, const WriteOptions& options)
      : dataset_(dataset),
        digits_(options.digits),
        missing_(options.missing),
        sparse_(is_sparse(dataset.x)),
        classes_(dataset.target.looks_like_classes()) {
    for (const std::string& name : dataset.target.class_names) class_names_.push_back(quoted(name));
    for (const std::string& name : dataset.group_names) group_names_.push_back(quoted(name));
  }

  /// Features, kept columns, the group, the label.
  std::string preamble() const override {
    const std::string relation = std::filesystem::path(dataset_.source).stem().string();
    std::string out = fmt::format("@relation {}\n\n", quoted(relation.empty() ? "table" : relation));
    for (std::int64_t j = 0; j < dataset_.features(); ++j)
      out +=
          fmt::format("@attribute {} {}\n", quoted(dataset_.feature_name(j)),
                      is_nominal(dataset_, j) ? quoted_list(dataset_.levels[static_cast<std::size_t>(j)]) : "numeric");
    for (const auto& kept : dataset_.kept) out += fmt::format("@attribute {} string\n", quoted(kept.name));
    if (!dataset_.groups.empty())
      out +=
          fmt::format("@attribute {} {}\n", quoted(unused_name(dataset_, "group")), quoted_list(dataset_.group_names));
    if (!dataset_.target.empty())
      out += fmt::format("@attribute {} {}\n",
                         quoted(dataset_.target.name.empty() ? unused_name(dataset_, "class") : dataset_.target.name),
                         classes_ ? quoted_list(dataset_.target.class_names) : "numeric");
    return out + "\n@data\n";
  }

  void row(std::int64_t i, std::string& out) const override {
    if (sparse_) out += '{';
    const std::size_t begin = out.size();
    const auto separate = [&](std::int64_t attribute) {
      if (out.size() > begin) out += ',';
      if (sparse_) out += fmt::format("{} ", attribute);
    };
    for_row_entries(dataset_.x, i, [&](std::int64_t feature, T value) {
      separate(feature);
      if (missing_ && std::isnan(value))
        out += '?';
      else if (is_nominal(dataset_, feature))
        out += quoted(level_name(dataset_, feature, value));
      else
        append_number(out, value, digits_);
    });
    std::int64_t attribute = dataset_.features();
    for (const auto& kept : dataset_.kept) {
      separate(attribute++);
      out += quoted(kept.values[static_cast<std::size_t>(i)]);
    }
    if (!dataset_.groups.empty()) {
      separate(attribute++);
      out += group_names_[static_cast<std::size_t>(dataset_.groups[static_cast<std::size_t>(i)])];
    }
    if (!dataset_.target.empty()) {
      separate(attribute);
      append_target(out, i);
    }
    out += sparse_ ? "}\n" : "\n";
  }

 private:
  void append_target(std::string& out, std::int64_t row) const {
    const auto at = static_cast<std::size_t>(row);
    if (classes_)
      out += class_names_[static_cast<std::size_t>(dataset_.target.classes[at])];
    else if (is_beyond_exact(dataset_.target.values[at]))
      append_label(out, dataset_, row);
    else
      append_number(out, dataset_.target.values[at], 0);
  }

  const Dataset<T>& dataset_;
  int digits_;
  bool missing_;
  bool sparse_;
  bool classes_;
  std::vector<std::string> class_names_;
  std::vector<std::string> group_names_;
};

}  // namespace

template <class T>
void write_arff(const Writing<T>& writing) {
  check_columns(writing);
  write_rows(writing, ArffWriter<T>(writing.dataset, writing.options));
}

template void write_arff(const Writing<float>&);
template void write_arff(const Writing<double>&);

}  // namespace sheaf
