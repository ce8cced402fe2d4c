#include "rescore/input/pin_header.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <unordered_set>

#include <fmt/format.h>

#include "data/text/number.hpp"

namespace sheaf::rescore {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// Columns that both kinds of rules take by name.
std::optional<PinColumn> optional_column(const std::string& name) {
  if (name == "scannr") return PinColumn::scan;
  if (name == "expmass") return PinColumn::mass;
  if (name == "calcmass") return PinColumn::calculated_mass;
  if (name == "rt" || name == "retentiontime") return PinColumn::time;
  if (name == "filename" || name == "spectrafile") return PinColumn::file;
  return std::nullopt;
}

std::optional<PinColumn> named_column(const std::string& name) {
  if (name == "specid" || name == "psmid") return PinColumn::id;
  if (name == "label") return PinColumn::label;
  if (name == "ret_time") return PinColumn::time;
  if (name == "peptide") return PinColumn::peptide;
  if (name == "proteins" || name == "proteinids") return PinColumn::protein;
  return optional_column(name);
}

bool is_number(std::string_view field) {
  double value = 0;
  return parse_whole_number(field, value) != NumberStatus::none;
}

class HeaderReader {
 public:
  HeaderReader(const Reading& reading, const PinOptions& options) : reading_(reading), options_(options) {}

  PinHeader read() {
    const std::string_view names = next_line("the names of the columns");
    if (names.starts_with("<?xml"))
      fail_at(reading_, names.data(), "this is XML; a PIN file of tab-separated columns is expected");
    for (const auto field : split_fields(names)) header_.names.push_back(checked_name(reading_, field, field.data()));
    fields_ = split_fields(names);
    const char* second = at_;
    std::string_view direction = next_line("a PSM");
    header_.has_direction_row = lower(direction.substr(0, direction.find('\t'))) == "defaultdirection";
    header_.first_psm = header_.has_direction_row ? at_ : second;
    const std::string_view psm = header_.has_direction_row ? next_line("a PSM") : direction;
    if (options_.rules == PinRules::by_name)
      find_by_name();
    else
      find_by_position(split_fields(psm));
    if (header_.feature_names.empty())
      fail_at(reading_, names.data(), "no column is a feature: there is nothing to learn from");
    if (header_.has_direction_row) read_direction(split_fields(direction));
    return std::move(header_);
  }

 private:
  /// Lines up to the first PSM must be there.
  std::string_view next_line(std::string_view what) {
    if (at_ >= reading_.limit())
      fail_at(reading_, reading_.limit(), fmt::format("the file ends where {} is expected", what));
    const char* end = line_end(at_, reading_.limit());
    const std::string_view line = trimmed_line(at_, end);
    if (line.empty()) fail_at(reading_, at_, fmt::format("{} expected, found an empty line", what));
    at_ = end < reading_.limit() ? end + 1 : end;
    return line;
  }

  void add(PinColumn column, std::size_t c) {
    header_.layout.columns.push_back(column);
    const bool feature = column == PinColumn::feature;
    header_.layout.feature.push_back(feature ? static_cast<std::int32_t>(header_.feature_names.size()) : -1);
    if (feature) header_.feature_names.push_back(header_.names[c]);
  }

  const char* place(std::size_t c) const {
    return c < fields_.size() ? fields_[c].data() : fields_.back().data() + fields_.back().size();
  }

  void find_by_name() {
    std::unordered_set<std::string> known;
    for (std::size_t c = 0; c < fields_.size(); ++c) {
      const std::string name = lower(header_.names[c]);
      if (name.empty()) fail_at(reading_, place(c), fmt::format("column {} has no name", c + 1));
      if (!known.insert(name).second)
        fail_at(reading_, place(c), fmt::format("a second column is called {}", shown(header_.names[c])));
      const auto column = named_column(name);
      if (column == PinColumn::protein && c + 1 < fields_.size())
        fail_at(reading_, place(c), "Proteins must be the last column, since it may hold several");
      const bool ignored =
          std::find(options_.ignore.begin(), options_.ignore.end(), header_.names[c]) != options_.ignore.end();
      add(column ? *column : ignored ? PinColumn::ignored : PinColumn::feature, c);
    }
    for (const auto& [column, name] : {std::pair{PinColumn::id, "SpecId"},
                                       {PinColumn::label, "Label"},
                                       {PinColumn::peptide, "Peptide"},
                                       {PinColumn::protein, "Proteins"}}) {
      const auto count = std::count(header_.layout.columns.begin(), header_.layout.columns.end(), column);
      if (count == 0) fail_at(reading_, place(0), fmt::format("no column is called {}", name));
      if (count > 1) fail_at(reading_, place(0), fmt::format("several columns say {} under different names", name));
    }
  }

  void find_by_position(const std::vector<std::string_view>& psm) {
    if (fields_.size() < 2) fail_at(reading_, place(0), "an id, a label and features expected, apart by tabs");
    for (const char* name : {"label", "proteins"})
      if (std::none_of(header_.names.begin(), header_.names.end(),
                       [&](const auto& one) { return lower(one).find(name) != std::string::npos; }))
        fail_at(reading_, place(0), fmt::format("no column is called {}", name));
    add(PinColumn::id, 0);
    add(PinColumn::label, 1);
    std::size_t c = 2;
    for (; c < fields_.size(); ++c) {
      const auto column = optional_column(lower(header_.names[c]));
      if (!column) break;
      add(*column, c);
    }
    for (; c < psm.size() && is_number(psm[c]); ++c) {
      if (c >= fields_.size())
        fail_at(reading_, place(c), fmt::format("the first PSM has more numbers than there are names: {}", c + 1));
      add(PinColumn::feature, c);
    }
    add(PinColumn::peptide, c);
    add(PinColumn::protein, c + 1);
  }

  void read_direction(const std::vector<std::string_view>& fields) {
    std::vector<double> values(header_.feature_names.size(), 0.0);
    const auto& feature = header_.layout.feature;
    bool any = false;
    for (std::size_t c = 0; c < fields.size(); ++c) {
      double value = 0;
      const auto status = parse_whole_number(fields[c], value);
      if (c >= feature.size() || (feature[c] < 0 && header_.layout.columns[c] >= PinColumn::peptide)) {
        if (status != NumberStatus::none)
          fail_at(reading_, fields[c].data(),
                  fmt::format("DefaultDirection has more values than there are features: {}", values.size()));
        break;
      }
      if (feature[c] < 0) continue;
      if (status != NumberStatus::ok)
        fail_at(reading_, fields[c].data(),
                fmt::format("a number expected for {}, found {}", shown(header_.names[c]), shown(fields[c])));
      values[static_cast<std::size_t>(feature[c])] = value;
      any |= value != 0;
    }
    if (any) header_.default_direction = std::move(values);
  }

  const Reading& reading_;
  const PinOptions& options_;
  PinHeader header_;
  const char* at_ = reading_.text.data();
  std::vector<std::string_view> fields_;
};

}  // namespace

std::string_view trimmed_line(const char* at, const char* end) {
  while (end > at && std::isspace(static_cast<unsigned char>(end[-1])) != 0) --end;
  return {at, static_cast<std::size_t>(end - at)};
}

std::vector<std::string_view> split_fields(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const auto tab = std::min(line.find('\t'), line.size());
    fields.push_back(line.substr(0, tab));
    if (tab == line.size()) return fields;
    line.remove_prefix(tab + 1);
  }
}

PinHeader read_pin_header(const Reading& reading, const PinOptions& options) {
  return HeaderReader(reading, options).read();
}

}  // namespace sheaf::rescore
