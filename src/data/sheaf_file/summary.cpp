#include "data/sheaf_file/summary.hpp"

#include <cstring>

namespace sheaf::sheaf_file {
namespace {

constexpr std::int64_t most_buckets = 64;

template <class Part>
void append(std::string& bytes, const Part& part) {
  bytes.append(reinterpret_cast<const char*>(&part), sizeof(Part));
}

template <class Part>
Part take(std::string_view& bytes) {
  Part part;
  std::memcpy(&part, bytes.data(), sizeof(Part));
  bytes.remove_prefix(sizeof(Part));
  return part;
}

/// The facts that follow from those of the features.
void add_feature(const FeatureSummary& feature, Summary& summary) {
  const bool first = summary.per_feature.empty();
  summary.minimum = first ? feature.minimum : std::min(summary.minimum, feature.minimum);
  summary.maximum = first ? feature.maximum : std::max(summary.maximum, feature.maximum);
  summary.zero_features += feature.nonzeros == 0 ? 1 : 0;
  summary.constant_features += feature.minimum == feature.maximum ? 1 : 0;
  summary.per_feature.push_back(feature);
}

}  // namespace

std::string encode_summary(const StoredSummary& stored) {
  const auto& s = stored.matrix;
  std::string bytes;
  append(bytes, SummaryHead{s.nonzeros, s.integers_only ? 1 : 0, s.shortest_row, s.longest_row,
                            std::ssize(s.row_nonzeros_histogram)});
  for (const auto count : s.row_nonzeros_histogram) append(bytes, count);
  for (std::size_t j = 0; j < s.per_feature.size(); ++j) {
    const auto& f = s.per_feature[j];
    append(bytes, FeatureEntry{f.nonzeros, stored.missing.empty() ? 0 : stored.missing[j], f.minimum, f.maximum, f.mean,
                               f.standard_deviation});
  }
  return bytes;
}

StoredSummary decode_summary(const File& file) {
  auto bytes = file.find(SectionKind::summary)->bytes;
  const auto features = static_cast<std::size_t>(file.header().features);
  SummaryHead head{};
  const bool begins = bytes.size() >= sizeof head;
  if (begins) head = take<SummaryHead>(bytes);
  if (!begins || head.buckets < 0 || head.buckets > most_buckets ||
      bytes.size() != static_cast<std::size_t>(head.buckets) * sizeof(std::int64_t) + features * sizeof(FeatureEntry))
    file.damaged(fmt::format("its summary of {} features has {} bytes", features, bytes.size()));
  StoredSummary result;
  auto& s = result.matrix;
  s.rows = file.header().rows;
  s.features = file.header().features;
  s.stored = file.header().stored;
  s.sparse = file.header().compressed_rows == 1;
  s.nonzeros = head.nonzeros;
  s.integers_only = head.integers_only == 1;
  s.shortest_row = head.shortest_row;
  s.longest_row = head.longest_row;
  for (std::int64_t b = 0; b < head.buckets; ++b) s.row_nonzeros_histogram.push_back(take<std::int64_t>(bytes));
  s.empty_rows = s.row_nonzeros_histogram.empty() ? 0 : s.row_nonzeros_histogram.front();
  s.per_feature.reserve(features);
  for (std::size_t j = 0; j < features; ++j) {
    const auto f = take<FeatureEntry>(bytes);
    add_feature({f.nonzeros, f.minimum, f.maximum, f.mean, f.standard_deviation}, s);
    if (file.header().missing == 1) result.missing.push_back(f.missing);
  }
  return result;
}

}  // namespace sheaf::sheaf_file
