#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/fail.hpp"
#include "data/row_subset.hpp"
#include "data/text/number.hpp"
#include "data/write/writing.hpp"

namespace sheaf {
namespace {

bool is_whole_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

bool can_be_label(const std::string& name) {
  double ignored = 0;
  const NumberStatus status = parse_whole_number(std::string_view(name), ignored);
  if (status == NumberStatus::not_finite || status == NumberStatus::overflow) return false;
  return !name.empty() && name.find_first_of(" \t\r\n:,#") == std::string::npos;
}

template <class T>
class LibsvmWriter : public RowWriter<T> {
 public:
  LibsvmWriter(const Dataset<T>& dataset, const WriteOptions& options)
      : dataset_(dataset),
        digits_(options.digits),
        named_groups_(std::all_of(dataset.group_names.begin(), dataset.group_names.end(), is_whole_number)) {
    if (dataset.target.classes.empty()) return;
    for (const std::string& name : dataset.target.class_names)
      if (!can_be_label(name))
        fail(
            "{}: the class '{}' cannot be written as a LIBSVM label: a word without blank, colon, comma and #, or a "
            "finite number",
            dataset.source, name);
  }

  std::string preamble() const override { return {}; }

  void row(std::int64_t i, std::string& out) const override {
    append_label(out, dataset_, i);
    if (!dataset_.groups.empty()) append_group(out, i);
    for_row_entries(dataset_.x, i, [&](std::int64_t feature, T value) {
      // Zeros of a dense matrix are not written, except -0, which would come back as +0.
      if (!is_sparse(dataset_.x) && value == 0 && !std::signbit(value)) return;
      std::array<char, 24> index{};
      const auto end = std::to_chars(index.data(), index.data() + index.size(), feature + 1);
      out += ' ';
      out.append(index.data(), static_cast<std::size_t>(end.ptr - index.data()));
      out += ':';
      append_number(out, value, digits_);
    });
    out += '\n';
  }

 private:
  void append_group(std::string& out, std::int64_t i) const {
    const auto group = static_cast<std::size_t>(dataset_.groups[static_cast<std::size_t>(i)]);
    out += " qid:";
    out += named_groups_ ? dataset_.group_names[group] : std::to_string(group + 1);
  }

  const Dataset<T>& dataset_;
  int digits_;
  bool named_groups_;
};

}  // namespace

template <class T>
void write_libsvm(const Writing<T>& writing) {
  write_rows(writing, LibsvmWriter<T>(writing.dataset, writing.options));
}

template void write_libsvm(const Writing<float>&);
template void write_libsvm(const Writing<double>&);

}  // namespace sheaf
