#include "data/sheaf_file/cache.hpp"

#include <cstdint>
#include <filesystem>

#include <sys/stat.h>

#include <sheaf/version.hpp>

#include "data/bytes/mapped_file.hpp"
#include "data/bytes/text_source.hpp"
#include "data/parameter_json.hpp"
#include "data/sheaf_file/write.hpp"

namespace sheaf::sheaf_file {
namespace {

using Json = nlohmann::ordered_json;

/// Null: no regular file.
Json stamp_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return {{"bytes", status.st_size},
          {"seconds", static_cast<std::int64_t>(status.st_mtim.tv_sec)},
          {"nanoseconds", static_cast<std::int64_t>(status.st_mtim.tv_nsec)}};
}

bool is_older(const std::string& path, const std::string& than) {
  std::error_code error;
  const auto one = std::filesystem::last_write_time(path, error);
  return error || one < std::filesystem::last_write_time(than, error) || error;
}

/// The description in the file at `path`; none: it is no readable .sheaf file.
std::optional<About> about_file(const std::string& path) {
  try {
    const FileBytes bytes(path);
    return decode_about(File(path, bytes.view()));
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string key_of(const About& about) {
  const auto& cache = about.cache;
  const bool known = cache.is_object() && cache.contains("key") && cache["key"].is_string();
  return known ? cache["key"].get<std::string>() : std::string();
}

std::vector<std::string> notes_of(const About& about) {
  std::vector<std::string> notes;
  if (const auto found = about.cache.find("notes"); found != about.cache.end() && found->is_array())
    for (const auto& note : *found)
      if (note.is_string()) notes.push_back(note.get<std::string>());
  return notes;
}

}  // namespace

template <class T>
CacheKey cache_key(const std::string& path, const ReadOptions& options) {
  const auto text = stamp_of(path);
  if (!options.cache || options.known || text.is_null()) return {};
  auto same = options;
  same.cache = false;
  same.verify = {};
  const Json key{{"sheaf", SHEAF_VERSION},
                 {"file", text},
                 {"metadata", options.metadata.empty() ? Json() : stamp_of(options.metadata)},
                 {"annotations", options.annotations.empty() ? Json() : stamp_of(options.annotations)},
                 {"element_bytes", sizeof(T)},
                 {"options", parameters_json(same)},
                 {"missing", static_cast<int>(options.missing)},
                 {"class_order", static_cast<int>(options.class_order)},
                 {"keep", options.keep},
                 {"keep_left_out", options.keep_left_out}};
  return {path + ".sheaf", key.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

template <class T>
std::optional<Dataset<T>> read_cache(const Context& context, const std::string& path, const ReadOptions& options,
                                     const CacheKey& key) {
  std::error_code error;
  if (key.path.empty() || !std::filesystem::is_regular_file(key.path, error) || is_older(key.path, path)) return {};
  const auto about = about_file(key.path);
  if (!about || key_of(*about) != key.text) return {};
  ReadOptions as_it_is;
  as_it_is.format = "sheaf";
  as_it_is.verify = options.verify;
  as_it_is.missing = Missing::keep;
  as_it_is.keep_left_out = true;
  auto dataset = read_dataset<T>(context, key.path, as_it_is);
  dataset.source = path;
  dataset.format = about->format;
  dataset.notes = notes_of(*about);
  return dataset;
}

template <class T>
void write_cache(const Context& context, const CacheKey& key, Dataset<T>& dataset) {
  if (key.path.empty()) return;
  std::error_code error;
  const auto there = about_file(key.path);
  if (std::filesystem::exists(key.path, error) && (!there || key_of(*there).empty())) {
    dataset.notes.push_back(
        fmt::format("{}: is not kept as {}, since another file is there", dataset.source, key.path));
    return;
  }
  auto about = sheaf_file::about(dataset);
  about.cache = {{"key", key.text}, {"notes", dataset.notes}};
  try {
    write_dataset_file(context, dataset, key.path, about);
  } catch (const Stopped&) {
    throw;
  } catch (const Error& refusal) {
    dataset.notes.push_back(fmt::format("{}: is not kept in binary form: {}", dataset.source, refusal.what()));
  }
}

template CacheKey cache_key<float>(const std::string&, const ReadOptions&);
template CacheKey cache_key<double>(const std::string&, const ReadOptions&);
template std::optional<Dataset<float>> read_cache(const Context&, const std::string&, const ReadOptions&,
                                                  const CacheKey&);
template std::optional<Dataset<double>> read_cache(const Context&, const std::string&, const ReadOptions&,
                                                   const CacheKey&);
template void write_cache(const Context&, const CacheKey&, Dataset<float>&);
template void write_cache(const Context&, const CacheKey&, Dataset<double>&);

}  // namespace sheaf::sheaf_file
