#include <algorithm>
#include <cmath>

#include "data/nominal.hpp"
#include "data/read/csv_fields.hpp"
#include "data/read/impute.hpp"
#include "data/row_subset.hpp"
#include "data/text/number.hpp"
#include "data/write/writing.hpp"

namespace sheaf {
namespace {

template <class T>
class CsvWriter : public RowWriter<T> {
 public:
  CsvWriter(const Dataset<T>& dataset, WriteOptions options) : dataset_(dataset), options_(std::move(options)) {
    check_delimiter(options_.delimiter);
  }

  /// Kept columns, features, the group, the label.
  std::string preamble() const override {
    if (!options_.header) return {};
    std::string out;
    for (const auto& kept : dataset_.kept) append_field(out, kept.name, true);
    for (std::int64_t j = 0; j < dataset_.features(); ++j) append_field(out, dataset_.feature_name(j), true);
    if (!dataset_.groups.empty()) append_field(out, unused_name(dataset_, "group"), true);
    if (!dataset_.target.empty())
      append_field(out, dataset_.target.name.empty() ? unused_name(dataset_, "label") : dataset_.target.name, true);
    end_row(out);
    return out;
  }

  void row(std::int64_t i, std::string& out) const override {
    for (const auto& kept : dataset_.kept) append_field(out, kept.values[static_cast<std::size_t>(i)], false);
    std::int64_t next = 0;
    for_row_entries(dataset_.x, i, [&](std::int64_t feature, T value) {
      for (; next < feature; ++next) append_value(out, next, T(0));
      append_value(out, next++, value);
    });
    for (; next < dataset_.features(); ++next) append_value(out, next, T(0));
    if (!dataset_.groups.empty())
      append_field(out, dataset_.group_names[static_cast<std::size_t>(dataset_.groups[static_cast<std::size_t>(i)])],
                   false);
    if (!dataset_.target.empty()) {
      std::string label;
      append_label(label, dataset_, i);
      append_field(out, label, false);
    }
    end_row(out);
  }
  bool writes_zeros() const override { return true; }

 private:
  /// Every field ends with a delimiter, of which end_row() makes a newline.
  void append_value(std::string& out, std::int64_t feature, T value) const {
    if (options_.missing && std::isnan(value)) {
      out += '?';
      out += options_.delimiter;
      return;
    }
    if (is_nominal(dataset_, feature)) {
      append_field(out, level_name(dataset_, feature, value), false);
      return;
    }
    append_number(out, value, options_.digits);
    out += options_.delimiter;
  }

  /// In quotes if it must be; names also if they look like numbers, so that the header is known as one.
  void append_field(std::string& out, const std::string& text, bool name) const {
    double ignored = 0;
    const char special[] = {options_.delimiter, '"', '\n', '\r', ' ', '\t', 0};
    const bool quote = text.find_first_of(special) != std::string::npos || is_missing(text) ||
                       (name && parse_whole_number(std::string_view(text), ignored) == NumberStatus::ok);
    if (quote) out += '"';
    for (const char c : text) out.append(c == '"' ? 2 : 1, c);
    if (quote) out += '"';
    out += options_.delimiter;
  }

  static void end_row(std::string& out) {
    if (out.empty() || out.back() == '\n')
      out += '\n';
    else
      out.back() = '\n';
  }

  const Dataset<T>& dataset_;
  WriteOptions options_;
};

}  // namespace

template <class T>
void write_csv(const Writing<T>& writing) {
  check_columns(writing);
  write_rows(writing, CsvWriter<T>(writing.dataset, writing.options));
}

template void write_csv(const Writing<float>&);
template void write_csv(const Writing<double>&);

}  // namespace sheaf
