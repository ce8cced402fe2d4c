#include "kernel/model/file_text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/text.hpp"

namespace sheaf {
namespace kernel {
const std::vector<std::string>& kind_names() {
  static const auto names = [] {
    std::vector<std::string> all;
    for (std::size_t k = 0; k <= static_cast<std::size_t>(SvmKind::nu_svr); ++k)
      all.emplace_back(to_string(static_cast<SvmKind>(k)));
    return all;
  }();
  return names;
}

void append_features(const SvmModel& model, std::int64_t s, std::string& text) {
  if (model.kernel.type == KernelType::precomputed) {
    text += fmt::format("0:{} ", model.serials[static_cast<std::size_t>(s)] + 1);
    return;
  }
  if (const auto* dense = std::get_if<DenseMatrix<double>>(&model.support)) {
    for (std::int64_t j = 0; j < dense->columns; ++j) append_entry(j, dense->values[s * dense->columns + j], text);
    return;
  }
  const auto& sparse = std::get<SparseMatrix<double>>(model.support);
  for (std::int64_t k = sparse.offsets[s]; k < sparse.offsets[s + 1]; ++k)
    append_entry(sparse.indices[k], sparse.values[k], text);
}

SupportReader::SupportReader(const ModelReader& reader, SvmModel& model, std::int64_t count,
                             std::optional<std::int64_t> features)
    : model_(model), most_(features.value_or(std::numeric_limits<std::int32_t>::max())) {
  if (model.kernel.type != KernelType::precomputed) rows_.emplace(reader, count, features);
}

void SupportReader::read_features(ModelReader& reader) {
  const bool precomputed = !rows_;
  std::int32_t last = precomputed ? -1 : 0;
  std::int32_t serial = 0;
  for (reader.skip_blanks(); !reader.at_line_end(); reader.skip_blanks()) {
    const auto before = reader;
    const auto [index, value] = read_entry(reader, last);
    last = index;
    if (precomputed && index == 0) {
      if (value < 1 || value != std::floor(value) || value > std::numeric_limits<std::int32_t>::max())
        before.fail_expected("0:SERIAL, the number of a training row");
      serial = static_cast<std::int32_t>(value);
    } else if (!precomputed) {
      if (index > most_)
        before.fail_here(fmt::format("the index {} is beyond the {}", index, counted(most_, "feature")));
      rows_->add(index - 1, value);
    }
  }
  if (precomputed && serial == 0) reader.fail_expected("0:SERIAL, the number of a training row");
  if (precomputed) model_.serials.push_back(serial - 1);
  if (rows_) rows_->end_row();
  reader.next_line();
}

void SupportReader::finish() {
  if (!rows_) return;
  model_.features = std::max(model_.features, rows_->columns());
  model_.support = rows_->take();
}

}  // namespace kernel

void check_libsvm_format(const Target& target, const SvmOptions& given) {
  const auto options = with_defaults(given, target);
  kernel::check_libsvm_kernel(options.kernel);
  SvmModel empty;
  empty.kind = *options.kind;
  empty.multi_class = options.multi_class;
  if (is_classification(*options.kind)) empty.class_names = target.class_names;
  if (!empty.class_names.empty()) static_cast<void>(kernel::format_libsvm_model(empty));
}

}  // namespace sheaf
