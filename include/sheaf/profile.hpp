// Everything `sheaf info` tells of a table, for the terminal, JSON and the HTML report alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sheaf/association.hpp>
#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/device.hpp>
#include <sheaf/summary.hpp>

namespace sheaf {

/// Something a statistician would want to hear before training.
struct Finding {
  enum class Level : std::uint8_t { note, warning };
  Level level;
  std::string code;     ///< stable, for programs: "constant-features"
  std::string message;  ///< what, how much, and what to do
};

/// Whether the table can be trained on a device.
struct DeviceFit {
  DeviceInfo device;
  std::int64_t need = 0;    ///< bytes of the table there, before any model
  std::int64_t budget = 0;  ///< bytes that may be used
  std::int64_t models = 0;  ///< linear models that train side by side; 0: the table itself does not fit
};

/// A feature in the limelight, split by class where there are classes.
struct Highlight {
  std::int64_t feature = 0;
  std::vector<double> class_means;
  std::vector<double> class_prevalence;  ///< share of the class's rows that are not zero
};

struct ProfileOptions {
  int highlights = 20;  ///< features to show of each kind
  /// Tables with more stored entries than this are compared with the label once, without shuffles.
  std::int64_t shuffle_entries = 200'000'000;
};

struct Profile {
  std::string source;
  int element_bytes = 8;
  Summary summary;
  MemoryNeed memory;
  std::vector<DeviceFit> fits;
  bool labelled = false;
  bool classification = false;  ///< else, where labelled, the labels are amounts
  std::string target_name;
  std::vector<std::string> class_names;
  std::vector<double> target_histogram;  ///< amounts only: equal steps from target_minimum to target_maximum
  std::vector<double> row_nonzeros;      ///< examples by number of non-zeros: `row_step` wide steps from shortest_row
  std::int64_t row_step = 1;
  std::vector<std::string> feature_names;  ///< empty: by position
  Associations associations;
  std::vector<Highlight> strongest;  ///< by association with the label
  std::vector<Highlight> varying;    ///< by standard deviation
  std::vector<Finding> findings;

  std::string feature_name(std::int64_t j) const {
    return feature_names.empty() ? std::to_string(j + 1) : feature_names[static_cast<std::size_t>(j)];
  }
  double prevalence(std::int64_t j) const;
};

template <class T>
Profile profile(const Context& context, const Dataset<T>& dataset, const ProfileOptions& options = {});

/// What profile() notes; needs everything else in place.
std::vector<Finding> findings(const Profile& profile);

}  // namespace sheaf
