// Values that every language with lists has. Results of the library become values here, once; a package turns a value
// into objects of its language by a single function over the alternatives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace sheaf::bindings {

/// Numbers of rows, features, classes or points, from 0. Languages that count from 1 add 1.
struct Places {
  std::vector<std::int64_t> values;

  Places() = default;
  template <class Numbers>
  explicit Places(const Numbers& numbers) : values(numbers.begin(), numbers.end()) {}
};
struct Place {
  std::int64_t value = 0;
};

/// Rows x columns, row by row.
struct Matrix {
  std::vector<double> values;
  std::int64_t rows = 0, columns = 0;
};

struct Value;

/// Values with names, in this order.
struct List {
  std::vector<std::string> names;
  std::vector<Value> values;
  bool is_table = false;  ///< the values are columns of as many entries each

  List& add(std::string name, Value value);
};

/// `monostate`: there is none. Numbers and texts may lack single entries.
using AnyValue =
    std::variant<std::monostate, bool, std::int32_t, std::int64_t, double, std::string, Place, Places, Matrix,
                 std::vector<bool>, std::vector<std::int32_t>, std::vector<std::int64_t>, std::vector<double>,
                 std::vector<std::optional<double>>, std::vector<std::string>, std::vector<std::optional<std::string>>,
                 std::vector<std::vector<double>>, std::vector<std::vector<std::string>>, List>;
struct Value : AnyValue {
  using AnyValue::AnyValue;
  Value(std::string_view text) : AnyValue(std::string(text)) {}  // NOLINT(google-explicit-constructor)
};

inline List& List::add(std::string name, Value value) {
  names.push_back(std::move(name));
  values.push_back(std::move(value));
  return *this;
}

/// A column of a table from the rows of some list. Views of texts are copied.
template <class Rows, class Entry>
auto column_of(const Rows& rows, const Entry& entry) {
  using Result = std::decay_t<decltype(entry(*rows.begin()))>;
  std::vector<std::conditional_t<std::is_same_v<Result, std::string_view>, std::string, Result>> column;
  column.reserve(rows.size());
  for (const auto& row : rows) column.emplace_back(entry(row));
  return column;
}

/// A table over the rows of some list, a column at a time.
template <class Rows>
class Table {
 public:
  explicit Table(const Rows& rows) : rows_(rows) { list_.is_table = true; }

  template <class Entry>
  Table& column(std::string name, const Entry& entry) {
    list_.add(std::move(name), column_of(rows_, entry));
    return *this;
  }
  /// A member of the rows.
  template <class Member, class Row>
  Table& column(std::string name, Member Row::*member) {
    return column(std::move(name), [member](const Row& row) { return row.*member; });
  }
  /// Numbers from 0.
  template <class Entry>
  Table& places(std::string name, const Entry& entry) {
    list_.add(std::move(name), Places(column_of(rows_, entry)));
    return *this;
  }
  /// A column that is there already.
  Table& column(std::string name, std::vector<double> values) {
    list_.add(std::move(name), std::move(values));
    return *this;
  }
  operator Value() { return std::move(list_); }  // NOLINT(google-explicit-constructor)

 private:
  const Rows& rows_;
  List list_;
};

}  // namespace sheaf::bindings
