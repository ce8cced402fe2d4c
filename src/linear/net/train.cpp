// Sheaves of elastic nets on one device or on several.
#include <algorithm>
#include <chrono>
#include <exception>
#include <future>
#include <mutex>
#include <numeric>
#include <tuple>

#include <sheaf/solvers/progress.hpp>

#include "core/fail.hpp"
#include "linear/net/paths.hpp"

namespace sheaf {
namespace linear {
namespace {

std::int64_t models_of(const NetSheaf& sheaf) {
  std::int64_t models = 0;
  for (const auto& path : sheaf.paths) models += static_cast<std::int64_t>(path.alphas.size());
  return models;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Hands out paths: many to a GPU, few to cores, and none to a device that would keep the others waiting.
class Counter {
 public:
  Counter(std::span<const Context> contexts, const NetSheaf& sheaf)
      : contexts_(contexts), rates_(contexts.size(), 0.0) {
    // Long paths first, so that the last ones are short.
    paths_.resize(sheaf.paths.size());
    std::iota(paths_.begin(), paths_.end(), 0);
    std::stable_sort(paths_.begin(), paths_.end(), [&](std::int32_t a, std::int32_t b) {
      return sheaf.paths[static_cast<std::size_t>(a)].alphas.size() >
             sheaf.paths[static_cast<std::size_t>(b)].alphas.size();
    });
  }

  /// Nothing: there is no more to do for this device.
  std::span<const std::int32_t> take(std::size_t device) {
    const std::lock_guard lock(mutex_);
    const auto left = static_cast<std::int64_t>(paths_.size()) - next_;
    if (left == 0 || stopped_ || waited_for(device, left)) {
      rates_[device] = 0;  // it failed: no path may be assigned to it
      return {};
    }
    const auto& context = contexts_[device];
    const std::int64_t wanted =
        context.device().is_cuda() ? (left + 1) / 2 : std::min<std::int64_t>(context.threads(), left / 16 + 1);
    const std::int64_t some = contexts_.size() == 1 ? left : std::clamp<std::int64_t>(wanted, 1, left);
    const auto begin = static_cast<std::size_t>(next_);
    next_ += some;
    return std::span(paths_).subspan(begin, static_cast<std::size_t>(some));
  }

  void done(std::size_t device, std::size_t paths, double seconds) {
    const std::lock_guard lock(mutex_);
    rates_[device] = static_cast<double>(paths) / std::max(seconds, 1e-9);
  }

  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (!error_) error_ = std::move(error);
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  /// Whether the others would be done with all that is left before this device with a single path.
  bool waited_for(std::size_t device, std::int64_t left) const {
    double others = 0;
    for (std::size_t d = 0; d < rates_.size(); ++d) others += d != device ? rates_[d] : 0;
    return rates_[device] > 0 && others > 0 && 1 / rates_[device] > static_cast<double>(left) / others;
  }

  std::span<const Context> contexts_;
  std::mutex mutex_;
  std::vector<std::int32_t> paths_;
  std::vector<double> rates_;  // paths a second; 0: not measured yet
  std::int64_t next_ = 0;
  bool stopped_ = false;
  std::exception_ptr error_;
};

template <class T>
void train(std::span<const Context> contexts, const Dataset<T>& dataset, const NetSheaf& sheaf, const NetParams& params,
           bool keep_weights, bool wants_decisions, const UseNetsOn<T>& use) {
  require(!contexts.empty(), "there is no device to train on");
  const Stage stage(contexts[0].progress(), "training", models_of(sheaf) * progress_per_model);
  Progress& progress = contexts[0].progress();
  std::vector<Context> of_devices;
  for (const Context& context : contexts) of_devices.push_back(context.with({.progress = &progress}));
  Counter counter(of_devices, sheaf);
  std::mutex using_mutex;
  const auto work = [&](std::size_t device) {
    try {
      const UseNets<T> use_here = [&](std::span<NetModel> models, BlockView<const T> decisions) {
        const std::lock_guard lock(using_mutex);
        use(device, models, decisions);
      };
      auto paths = counter.take(device);
      if (paths.empty()) return;
      NetRun<T> run(of_devices[device], dataset, sheaf, params, keep_weights, wants_decisions, use_here);
      for (; !paths.empty(); paths = counter.take(device)) {
        const double start = now();
        run.run(paths);
        counter.done(device, paths.size(), now() - start);
      }
    } catch (...) {
      counter.fail(std::current_exception());
    }
  };
  std::vector<std::future<void>> others;
  for (std::size_t device = 1; device < contexts.size(); ++device)
    others.push_back(std::async(std::launch::async, work, device));
  work(0);
  for (const auto& other : others)
    while (other.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) progress.deliver();
  counter.rethrow();
}

}  // namespace
}  // namespace linear

template <class T>
void elastic_nets(std::span<const Context> contexts, const Dataset<T>& dataset, const NetSheaf& sheaf,
                  const NetParams& params, bool keep_weights, const UseNetsOn<T>& use) {
  linear::train<T>(contexts, dataset, sheaf, params, keep_weights, true, use);
}

template <class T>
void elastic_nets(const Context& context, const Dataset<T>& dataset, const NetSheaf& sheaf, const NetParams& params,
                  bool keep_weights, const UseNets<T>& use) {
  linear::train<T>(std::span(&context, 1), dataset, sheaf, params, keep_weights, true,
                   [&](std::size_t, std::span<NetModel> models, BlockView<const T> z) { use(models, z); });
}

bool PathEnd::reached(std::span<const double> explained) const {
  const auto count = static_cast<std::int32_t>(explained.size());
  if (count < fewest) return false;
  if (explained.back() > most_explained) return true;
  if (!(least_gain > 0) || count <= models) return false;
  const double gain = explained.back() - explained[static_cast<std::size_t>(count - 1 - models)];
  return gain < least_gain * (relative ? explained.back() : 1);
}

template <class T>
EndedPath elastic_net_path(const Context& context, const Dataset<T>& dataset, const NetSheaf& sheaf,
                           const NetParams& params, const PathEnd& end) {
  require(sheaf.paths.size() == 1, "a path that ends by itself is trained alone");
  const Stage stage(context.progress(), "training", linear::models_of(sheaf) * progress_per_model);
  EndedPath path;
  linear::PathWatch watch{end, {}};
  const UseNets<T> use = [&](std::span<NetModel> models, BlockView<const T>) {
    for (auto& model : models) path.models.push_back(std::move(model));
  };
  const std::int32_t first = 0;
  linear::NetRun<T>(context, dataset, sheaf, params, true, false, use, &watch).run(std::span(&first, 1));
  std::sort(path.models.begin(), path.models.end(), [](const NetModel& a, const NetModel& b) {
    return std::tuple(a.alpha, a.column) < std::tuple(b.alpha, b.column);
  });
  std::size_t count = 1;  // segments of a path are trained in any order on a GPU
  const auto& explained = watch.explained;
  while (count < explained.size() && !end.reached(std::span(explained).first(count))) ++count;
  path.explained.assign(explained.begin(),
                        explained.begin() + static_cast<std::ptrdiff_t>(std::min(count, explained.size())));
  path.models.resize(path.explained.size() * static_cast<std::size_t>(sheaf.classes));
  return path;
}

template <class T>
std::vector<NetModel> elastic_nets(const Context& context, const Dataset<T>& dataset, const NetSheaf& sheaf,
                                   const NetParams& params) {
  std::vector<NetModel> all;
  linear::train<T>(std::span(&context, 1), dataset, sheaf, params, true, false,
                   [&](std::size_t, std::span<NetModel> models, BlockView<const T>) {
                     for (auto& model : models) all.push_back(std::move(model));
                   });
  std::sort(all.begin(), all.end(), [](const NetModel& a, const NetModel& b) {
    return std::tuple(a.path, a.alpha, a.column) < std::tuple(b.path, b.alpha, b.column);
  });
  return all;
}

template EndedPath elastic_net_path(const Context&, const Dataset<float>&, const NetSheaf&, const NetParams&,
                                    const PathEnd&);
template EndedPath elastic_net_path(const Context&, const Dataset<double>&, const NetSheaf&, const NetParams&,
                                    const PathEnd&);

#define SHEAF_INSTANTIATE(T)                                                                                       \
  template void elastic_nets(std::span<const Context>, const Dataset<T>&, const NetSheaf&, const NetParams&, bool, \
                             const UseNetsOn<T>&);                                                                 \
  template void elastic_nets(const Context&, const Dataset<T>&, const NetSheaf&, const NetParams&, bool,           \
                             const UseNets<T>&);                                                                   \
  template std::vector<NetModel> elastic_nets(const Context&, const Dataset<T>&, const NetSheaf&, const NetParams&);
SHEAF_INSTANTIATE(float)
SHEAF_INSTANTIATE(double)
#undef SHEAF_INSTANTIATE

}  // namespace sheaf
