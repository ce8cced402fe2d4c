#include <memory>

#include "command.hpp"
#include "tables.hpp"

namespace sheaf::cli {
namespace {

struct Convert {
  std::string input, output;
  ReadOptions reading;
  WriteOptions writing;
  Common common;

  void run() {
    check_output(common, output);
    const auto context = common.context();
    common.with_precision([&]<class T>(std::type_identity<T>) {
      write_table(common, context, read_dataset<T>(context, input, reading), output, writing);
    });
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto convert = std::make_shared<Convert>();
  arguments.positional("IN", convert->input, "the dataset to read; - is standard input");
  arguments.positional("OUT", convert->output, "the dataset to write; - is standard output; compressed by ending");
  declare_writing(arguments, convert->writing);
  declare_reading(arguments, convert->reading);
  convert->common.declare(arguments, {"threads", "memory"});
  return [convert] { convert->run(); };
}

}  // namespace

Command convert_command() {
  return {
      "convert",
      "Rewrite a dataset in another format, plain or compressed",
      {{"by the endings of the names", "sheaf convert iris.csv iris.svm.gz"},
       {"from a pipe to a pipe", "curl -s URL | sheaf convert - - --format libsvm --to csv | head"},
       {"choose the label and drop two columns", "sheaf convert trial.csv trial.arff --label outcome --ignore id,date"},
       {"put the column's median for what is missing", "sheaf convert raw.csv full.csv --missing median"}},
      declare};
}

}  // namespace sheaf::cli
