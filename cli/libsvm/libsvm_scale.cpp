// LIBSVM's svm-scale, with its flags, files and words.
#include <cmath>
#include <memory>

#include <sheaf/io.hpp>

#include "command.hpp"
#include "core/fail.hpp"
#include "data/prepare/libsvm_scaling.hpp"
#include "liblinear/liblinear.hpp"
#include "libsvm/libsvm.hpp"
#include "signals.hpp"
#include "terminal.hpp"

namespace sheaf::cli {

Dataset<double> read_sparse_libsvm(const Context& context, const std::string& path) {
  ReadOptions options;
  options.format = "libsvm";
  options.class_order = ClassOrder::appearance;
  options.task = LabelKind::classes;  // whatever they are spelled like, unless the solver is for a regression
  options.storage = Storage::sparse;
  return read_dataset<double>(context, path, options);
}

void warn_of_scaling(const Dataset<double>& dataset, const LibsvmScaling& scaling, const std::string& ranges,
                     std::int64_t written) {
  if (!ranges.empty())
    for (const auto j : without_range(dataset, scaling))
      say(
          fmt::format("WARNING: feature index {} appeared in file {} was not seen in the scaling factor file {}. The "
                      "feature is scaled to 0.",
                      j + 1, dataset.source, ranges));
  if (written > stored(dataset.x))
    say(fmt::format(
        "WARNING: original #nonzeros {}\n       > new      #nonzeros {}\nIf feature values are non-negative "
        "and sparse, use -l 0 rather than the default -l -1",
        stored(dataset.x), written));
}

namespace {

struct Scale {
  std::string input, save, restore;
  double lower = -1, upper = 1;
  std::vector<double> label;  // lower and upper
  Context::Options surroundings{.stop = stop_on_signal()};

  void run() const {
    if (!save.empty() && !restore.empty()) fail_usage("cannot use -r and -s simultaneously");
    if (upper <= lower || (!label.empty() && label[1] <= label[0]))
      fail_usage("inconsistent lower/upper specification");
    if (!std::isfinite(upper - lower) || (!label.empty() && !std::isfinite(label[1] - label[0])))
      fail_usage("lower and upper are too far apart: their difference is more than the largest number, 1.8e308");
    const auto dataset = read_sparse_libsvm(Context(surroundings), input);
    LibsvmScaling scaling;
    if (restore.empty()) {
      scaling = learn_libsvm_scaling(dataset, lower, upper);
      if (!label.empty()) learn_label_scaling(dataset, label[0], label[1], scaling);
      if (!save.empty()) save_libsvm_scaling(scaling, save);
    } else {
      scaling = load_libsvm_scaling(restore);
    }
    const auto written = write_scaled(dataset, scaling, [](std::string_view text) { print_data(text); });
    warn_of_scaling(dataset, scaling, restore, written);
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto scale = std::make_shared<Scale>();
  arguments.positional("data_filename", scale->input, "the dataset to scale, in LIBSVM's format");
  LiblinearFlags flags(arguments);
  flags.value("-l", "LOWER", "the lowest value of each feature becomes this", "-1",
              [scale](const std::string& text) { scale->lower = flag_number("-l", text); });
  flags.value("-u", "UPPER", "the highest value of each feature becomes this", "+1",
              [scale](const std::string& text) { scale->upper = flag_number("-u", text); });
  arguments.add({"-y", "LOWER UPPER", "scale the labels too", "no",
                 [scale](const std::string& text) { scale->label.push_back(flag_number("-y", text)); }, 2});
  flags.value("-s", "FILE", "write the ranges, to scale other datasets alike", "",
              [scale](const std::string& text) { scale->save = text; });
  flags.value("-r", "FILE", "scale by such ranges instead of this dataset's", "",
              [scale](const std::string& text) { scale->restore = text; });
  arguments.reads({"data_filename", "-r"});
  arguments.writes({"-s"});
  arguments.section("Beyond LIBSVM");
  arguments.parameters(scale->surroundings, {"threads", "memory"});
  return [scale] { scale->run(); };
}

}  // namespace

Command libsvm_scale_command() {
  return {"svm-scale",
          "LIBSVM's svm-scale: the same flags, range files and output",
          {{"learn on the training rows, apply to the test rows",
            "sheaf svm-scale -s ranges train >train.scale && sheaf svm-scale -r ranges test >test.scale"},
           {"zeros stay zeros if no value is negative", "sheaf svm-scale -l 0 train >train.scale"}},
          declare};
}

}  // namespace sheaf::cli
