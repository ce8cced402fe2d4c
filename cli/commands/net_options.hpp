// What commands that train elastic nets share on the command line.
#pragma once

#include <string>
#include <vector>

#include <sheaf/elastic_net_model.hpp>

#include "arguments.hpp"

namespace sheaf::cli {

class NetFlags {
 public:
  /// How features are penalised, and the rows of the solver that `names` lists.
  void declare(Arguments& arguments, NetOptions& options, std::initializer_list<std::string_view> names);
  /// What contradicts itself is a UsageError.
  static void check(const Arguments& arguments, const NetOptions& options);
  /// The penalty factors of a table's features.
  void find_factors(const std::vector<std::string>& feature_names, std::int64_t features, NetOptions& options) const;

 private:
  std::string factors_;
  std::vector<std::string> free_;
};

}  // namespace sheaf::cli
