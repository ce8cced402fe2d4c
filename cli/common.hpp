// Options that most commands share: device, threads, memory, seed, precision, --json, --quiet.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <sheaf/solvers/parameters.hpp>

#include "arguments.hpp"
#include "listeners.hpp"
#include "queue/ranks.hpp"

namespace sheaf::cli {

/// A dataset that was read as float needs double; states why.
struct NeedsDouble {
  std::string why;
};

/// Shared options of a command beyond the context's parameters.
struct CommonParts {
  bool precision = true;         ///< --precision
  bool json = true;              ///< --json as a switch
  bool several_devices = false;  ///< --device takes several, joined by +
};

class Common {
 public:
  /// Declares the context parameters in `names` (device, threads, memory, seed), `parts` and --quiet.
  void declare(Arguments& arguments, std::initializer_list<std::string_view> names, CommonParts parts = {});

  Context context();
  /// A folder of results: how far the work is stands in a file there until it ends, for whoever looks on (sheaf app).
  void show_progress_in(const std::string& folder);
  /// The machine is shared with processes that were started together; only the first of them speaks.
  void share_machine(const queue::Ranks& ranks);
  /// The same, and they share the rows of each model.
  void share_rows(const queue::Ranks& ranks);
  /// Chooses the device for the work if it is automatic. Says which it is, but for a script that did not ask and
  /// stays on the CPU.
  Context on_device(const Context& context, const WorkEstimate& work) const;
  /// If the device is automatic, uses the one that a search began on.
  Context on_device(const Context& context, Device device) const {
    return options_.device == Device::automatic() ? context.with({.device = device, .memory = options_.memory})
                                                  : context;
  }
  bool json() const { return json_; }
  /// Devices that share the work with the context's.
  const std::vector<Device>& extra_devices() const { return extra_devices_; }
  std::uint64_t seed() const { return options_.seed; }
  bool quiet() const { return quiet_; }

  /// Calls work(std::type_identity<float or double>). If float turns out to be too imprecise, work is called again.
  template <class Work>
  void with_precision(Work&& work) const {
    with_precision({}, std::forward<Work>(work));
  }
  /// The same; unless the caller chose one, the precision is that of a .sheaf file at `path`.
  template <class Work>
  void with_precision(const std::string& path, Work&& work) const {
    if (precision_for(path) == Precision::float32) {
      try {
        return work(std::type_identity<float>{});
      } catch (const NeedsDouble& reason) {
        say_double(reason);
      }
    }
    work(std::type_identity<double>{});
  }

 private:
  Precision precision_for(const std::string& path) const;
  void say_double(const NeedsDouble& reason) const;
  void declare_device(Arguments& arguments, Option option, bool several);
  void declare_precision(Arguments& arguments);

  Context::Options options_;
  PrecisionOptions precision_;
  bool precision_chosen_ = false;
  std::vector<Device> extra_devices_;
  queue::Ranks ranks_;
  bool shares_rows_ = false;
  bool automatic_asked_ = false;
  bool quiet_ = false;
  bool json_ = false;
  Listeners shown_;
};

}  // namespace sheaf::cli
