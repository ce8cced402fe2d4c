#include "rescore/confidence/groups.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "rescore/confidence/peptides.hpp"

namespace sheaf::rescore {
namespace {

constexpr std::size_t most_groups = 1000;

/// Columns Charge1, Charge2 ... hold 1 if the PSM has that charge.
template <class T>
std::string charge_of(const Psms<T>& psms, const std::vector<std::int64_t>& columns, std::int64_t row) {
  for (const auto j : columns)
    if (psms.row(row)[j] > 0) return psms.feature_names[static_cast<std::size_t>(j)];
  return "none";
}

constexpr std::string_view charge_word = "charge";

bool is_charge_column(std::string_view name) {
  const auto begin = charge_word;
  if (name.size() <= begin.size()) return false;
  const bool digits = std::all_of(name.begin() + begin.size(), name.end(),
                                  [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
  return digits && std::equal(begin.begin(), begin.end(), name.begin(),
                              [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

std::vector<std::int64_t> charge_columns(const std::vector<std::string>& names) {
  std::vector<std::int64_t> columns;
  for (std::size_t j = 0; j < names.size(); ++j)
    if (is_charge_column(names[j])) columns.push_back(static_cast<std::int64_t>(j));
  return columns;
}

}  // namespace

template <class T>
std::vector<std::int8_t> find_charges(const Psms<T>& psms) {
  constexpr int most = 100;
  std::vector<std::pair<std::int64_t, int>> columns;
  for (const auto j : charge_columns(psms.feature_names)) {
    const auto digits = psms.feature_names[static_cast<std::size_t>(j)].substr(charge_word.size());
    if (digits.size() < 3) columns.emplace_back(j, std::min(std::stoi(digits), most));
  }
  std::vector<std::int8_t> charges;
  if (columns.empty()) return charges;
  charges.assign(static_cast<std::size_t>(psms.size()), 0);
  for (std::int64_t i = 0; i < psms.size(); ++i)
    for (const auto& [column, charge] : columns)
      if (psms.row(i)[column] > 0) charges[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(charge);
  return charges;
}

template <class T>
void find_groups(const Psms<T>& psms, const std::string& what, std::vector<std::int32_t>& groups,
                 std::vector<std::string>& names) {
  std::function<std::string(std::int64_t)> name_of;
  const auto charges = charge_columns(psms.feature_names);
  const auto column = static_cast<std::int64_t>(std::find(psms.feature_names.begin(), psms.feature_names.end(), what) -
                                                psms.feature_names.begin());
  if (what == "file") {
    if (psms.file_names.empty()) fail("q-values by file need a column 'filename', or several PIN files");
    name_of = [&](std::int64_t i) { return psms.file_names[static_cast<std::size_t>(psms.file(i))]; };
  } else if (what == "modified") {
    name_of = [&](std::int64_t i) {
      const auto key = peptide_key(psms.text(i).peptide, RescoreRules::safe);
      return key.find_first_of("[(+") == std::string_view::npos ? "unmodified" : "modified";
    };
  } else if (column < psms.features()) {
    name_of = [&, column](std::int64_t i) { return fmt::format("{} {:g}", what, psms.row(i)[column]); };
  } else if (what == "charge" && !charges.empty()) {
    name_of = [&](std::int64_t i) { return charge_of(psms, charges, i); };
  } else {
    auto known = psms.feature_names;
    known.insert(known.end(), {"file", "modified", "charge"});
    fail_unknown("group", what, known);
  }
  std::map<std::string, std::int32_t> places;
  for (std::int64_t i = 0; i < psms.size() && places.size() <= most_groups; ++i) places.try_emplace(name_of(i), 0);
  if (places.size() > most_groups)
    fail_usage("'{}' has more than {} different values; groups must be large enough to estimate errors in", what,
               most_groups);
  for (auto& [name, place] : places) {
    place = static_cast<std::int32_t>(names.size());
    names.push_back(name);
  }
  groups.resize(static_cast<std::size_t>(psms.size()));
  for (std::int64_t i = 0; i < psms.size(); ++i) groups[static_cast<std::size_t>(i)] = places.at(name_of(i));
}

template std::vector<std::int8_t> find_charges(const Psms<float>&);
template std::vector<std::int8_t> find_charges(const Psms<double>&);
template void find_groups(const Psms<float>&, const std::string&, std::vector<std::int32_t>&,
                          std::vector<std::string>&);
template void find_groups(const Psms<double>&, const std::string&, std::vector<std::int32_t>&,
                          std::vector<std::string>&);

}  // namespace sheaf::rescore
