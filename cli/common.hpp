// What most commands share: where they work, how much they say, and in which form they answer.
#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>
#include <type_traits>

#include <sheaf/parameters.hpp>

#include "arguments.hpp"
#include "progress_bar.hpp"

namespace sheaf::cli {

class Common {
 public:
  /// Declares the context parameters in `names` (device, threads, memory, seed), --precision where `precision`, --quiet
  /// and --json.
  void declare(Arguments& arguments, std::initializer_list<std::string_view> names, bool precision = true);

  /// Says which device was taken where that was left to us.
  Context context();
  bool json() const { return json_; }
  bool quiet() const { return quiet_; }

  /// Calls work(std::type_identity<float or double>).
  template <class Work>
  void with_precision(Work&& work) const {
    if (precision_.precision == Precision::float32)
      work(std::type_identity<float>{});
    else
      work(std::type_identity<double>{});
  }

 private:
  Context::Options options_;
  PrecisionOptions precision_;
  bool automatic_device_ = false;
  bool quiet_ = false;
  bool json_ = false;
  std::unique_ptr<ProgressBar> bar_;
};

}  // namespace sheaf::cli
