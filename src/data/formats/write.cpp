#include "core/fail.hpp"
#include "core/names.hpp"
#include "core/text.hpp"
#include "data/formats/formats.hpp"

namespace sheaf {
namespace {

std::vector<std::string> written_names() {
  std::vector<std::string> names;
  for (const Format& format : formats())
    if (format.written) names.emplace_back(format.name);
  return names;
}

const Format& format_to_write(const std::string& path, const WriteOptions& options) {
  const Format* format =
      options.format != "auto" ? &format_named(options.format) : find_format_by_ending(formats(), path);
  if (format != nullptr && format->written) return *format;
  if (format != nullptr)
    fail_usage("{}: datasets are read from {} files, and not written as such; write one of {}", path, format->name,
               join_names(written_names(), "or"));
  std::string endings;
  for (const Format& one : formats())
    if (one.written) endings += fmt::format("{}{}", endings.empty() ? "" : " ", one.endings);
  fail_usage("{}: the name does not show the format to write; name one of {}, or end the name in one of {}", path,
             join_names(written_names()), endings);
}

}  // namespace

template <class T>
void write_dataset(const Context& context, const Dataset<T>& dataset, const std::string& path,
                   const WriteOptions& options) {
  const Format& format = format_to_write(path, options);
  if (options.digits < 0 || options.digits > 40)
    fail_usage("{} significant digits cannot be written; from 1 to 40, or 0 for the fewest that keep the value",
               options.digits);
  if (!format.whole && dataset.target.several())
    fail("{}: files have one label, and --label names {}; name one, and the others are written as features",
         dataset.source, counted(dataset.target.targets(), "target"));
  if (!format.whole && dataset.target.survival())
    fail(
        "{}: files have one label, and this dataset has times and events; leave out --event, and the events are "
        "written "
        "as a feature",
        dataset.source);
  write_as<T>(format, {context, dataset, path, options});
}

template void write_dataset(const Context&, const Dataset<float>&, const std::string&, const WriteOptions&);
template void write_dataset(const Context&, const Dataset<double>&, const std::string&, const WriteOptions&);

}  // namespace sheaf
