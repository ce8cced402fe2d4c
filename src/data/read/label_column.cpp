#include "data/read/label_column.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <functional>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "data/label_numbers.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t row_grain = 1 << 14;

/// The distinct entries found so far, numbered by first appearance.
class Dictionary {
 public:
  std::int32_t id(const TextColumn& column, std::int64_t row) {
    const auto [id, added] = labels_.add(column.number(row), column.text(row));
    if (added) firsts_.push_back(row);
    return id;
  }
  /// The row where each entry was first found.
  const std::vector<std::int64_t>& firsts() const { return firsts_; }

 private:
  LabelNumbers labels_;
  std::vector<std::int64_t> firsts_;
};

bool all_numbers(const Reading& reading, const TextColumn& column, std::int64_t rows) {
  std::atomic<bool> all = true;
  parallel_ranges(reading.context.threads(), rows, row_grain, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i)
      if (std::isnan(column.number(i))) all = false;
  });
  return all;
}

/// Gives up the pages of the file that texts of rows, one after another, were read from.
class TextTrail {
 public:
  explicit TextTrail(const Reading& reading) : reading_(reading) {}
  TextTrail(const TextTrail&) = delete;
  TextTrail& operator=(const TextTrail&) = delete;
  ~TextTrail() { release(); }

  void passed(std::string_view text) {
    const std::less<> before;
    if (before(text.data(), reading_.text.data()) || before(reading_.limit(), text.data())) return;  // not of the file
    if (begin_ == nullptr || text.data() < end_) {
      release();
      begin_ = text.data();
    }
    end_ = text.data() + text.size();
    if (end_ - begin_ > reading_.chunk_bytes) release();
  }

 private:
  void release() {
    if (begin_ != nullptr) release_pages(reading_, {begin_, end_});
    begin_ = end_;
  }

  const Reading& reading_;
  const char* begin_ = nullptr;
  const char* end_ = nullptr;
};

struct Part {
  Dictionary dictionary;
  std::vector<std::int32_t> global;  // id over all parts of each id of this part
};

}  // namespace

std::string_view TextColumn::keep(std::string text) {
  const std::lock_guard lock(mutex_);
  return kept_.emplace_back(std::move(text));
}

std::optional<Distinct> number_distinct(const Reading& reading, const TextColumn& column, std::int64_t rows,
                                        std::int64_t most) {
  const bool limited = all_numbers(reading, column, rows);
  const int threads = reading.context.threads();
  const std::int64_t parts = std::clamp<std::int64_t>(rows / row_grain, 1, threads);
  std::vector<Part> part(static_cast<std::size_t>(parts));
  Distinct result;
  result.ids.resize(static_cast<std::size_t>(rows));
  std::atomic<bool> too_many = false;
  parallel_for(threads, parts, [&](std::int64_t p) {
    auto& dictionary = part[static_cast<std::size_t>(p)].dictionary;
    const Range range = part_of(rows, parts, p);
    TextTrail trail(reading);
    for (std::int64_t i = range.begin; i < range.end && !too_many; ++i) {
      trail.passed(column.text(i));
      result.ids[static_cast<std::size_t>(i)] = dictionary.id(column, i);
      if (limited && static_cast<std::int64_t>(dictionary.firsts().size()) > most) too_many = true;
    }
  });
  if (too_many) return std::nullopt;
  Dictionary all;
  for (auto& [dictionary, global] : part)
    for (const std::int64_t row : dictionary.firsts()) global.push_back(all.id(column, row));
  if (limited && static_cast<std::int64_t>(all.firsts().size()) > most) return std::nullopt;
  parallel_for(threads, parts, [&](std::int64_t p) {
    const Range range = part_of(rows, parts, p);
    for (auto i = static_cast<std::size_t>(range.begin); i < static_cast<std::size_t>(range.end); ++i)
      result.ids[i] = part[static_cast<std::size_t>(p)].global[static_cast<std::size_t>(result.ids[i])];
  });
  for (const std::int64_t row : all.firsts())
    result.names.push_back(checked_name(reading, column.text(row), column.text(row).data()));
  return result;
}

namespace {

/// None if the text means neither that the event came nor that it did not.
std::optional<std::uint8_t> event_of(double number, std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  if (number == 1 || lower == "true") return std::uint8_t{1};
  if (number == 0 || lower == "false") return std::uint8_t{0};
  return std::nullopt;
}

[[noreturn]] void fail_number(const Reading& reading, const TextColumn& column, std::int64_t rows,
                              std::string_view what) {
  std::int64_t row = 0;
  while (row + 1 < rows && !std::isnan(column.number(row))) ++row;
  fail_text(reading, column.text(row), row,
            fmt::format("{} must be a number, found {}", what, shown(column.text(row))));
}

/// Nothing if one of them is no number.
std::vector<double> numbers_of(const Reading& reading, const TextColumn& column, std::int64_t rows) {
  std::vector<double> values;
  if (!all_numbers(reading, column, rows)) return values;
  values.resize(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i) values[static_cast<std::size_t>(i)] = column.number(i);
  return values;
}

}  // namespace

void fail_text(const Reading& reading, std::string_view text, std::int64_t row, std::string_view message) {
  const bool in_file = text.data() >= reading.text.data() && text.data() <= reading.limit();
  if (in_file) fail_at(reading, text.data(), message);
  fail("{}: row {}: {}", reading.name, row + 1, message);
}

void set_events(const Reading& reading, const TextColumn& times, const TextColumn& events, std::int64_t rows,
                Target& target) {
  target.kind = LabelKind::numbers;
  target.classes.clear();
  target.class_names.clear();
  target.positive = -1;
  for (std::int64_t i = 0; i < rows; ++i) {
    if (!(times.number(i) >= 0) && (reading.options.entry.empty() || std::isnan(times.number(i))))
      fail_text(reading, times.text(i), i,
                fmt::format("a time must be a number of 0 or more, found {}", shown(times.text(i))));
    const auto event = event_of(events.number(i), events.text(i));
    if (!event)
      fail_text(
          reading, events.text(i), i,
          fmt::format("an event must be 1 (it came at that time) or 0 (censored), found {}", shown(events.text(i))));
    target.events.push_back(*event);
  }
}

Target make_target(const Reading& reading, const TextColumn& column, std::int64_t rows) {
  Target target;
  target.kind = reading.options.task;
  target.values = numbers_of(reading, column, rows);
  if (auto classes = number_distinct(reading, column, rows, Target::max_classes)) {
    target.classes = std::move(classes->ids);
    target.class_names = std::move(classes->names);
  }
  if (target.kind == LabelKind::numbers && target.values.empty())
    fail_number(reading, column, rows, "the label of a regression");
  if (reading.options.class_order == ClassOrder::sorted) target.order_classes(reading.options.positive);
  return target;
}

Target make_targets(const Reading& reading, const std::deque<TextColumn>& columns,
                    const std::vector<std::string>& names, std::int64_t rows) {
  Target target;
  target.kind = LabelKind::numbers;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    auto values = numbers_of(reading, columns[c], rows);
    if (values.empty()) fail_number(reading, columns[c], rows, fmt::format("the target {}", shown(names[c])));
    if (c == 0) {
      target.name = names[c];
      target.values = std::move(values);
    } else {
      target.further.push_back({names[c], std::move(values)});
    }
  }
  return target;
}

}  // namespace sheaf
