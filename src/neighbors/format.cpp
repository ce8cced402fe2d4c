// Lists of neighbours as text and bytes.
#include <sheaf/neighbors.hpp>

#include <array>
#include <bit>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "data/formats/formats.hpp"
#include "neighbors/npy.hpp"

namespace sheaf {
namespace {

using Json = nlohmann::ordered_json;

static_assert(std::endian::native == std::endian::little, "files of numbers are little-endian");

template <class Value>
void append(std::string& bytes, const Value& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class Value>
void append_all(std::string& bytes, const std::vector<Value>& values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value));
}

RadiusLists with_offsets(const NeighborLists& lists) {
  RadiusLists result;
  for (std::int64_t i = 1; i <= lists.queries; ++i) result.offsets.push_back(i * lists.k);
  result.indices = lists.indices;
  result.distances = lists.distances;
  return result;
}

/// Calls entry(query, rank from 1, place).
template <class Entry>
void for_entries(const RadiusLists& lists, const Entry& entry) {
  for (std::int64_t i = 0; i < lists.queries(); ++i) {
    const auto begin = lists.offsets[static_cast<std::size_t>(i)];
    for (auto at = begin; at < lists.offsets[static_cast<std::size_t>(i) + 1]; ++at)
      entry(i, at - begin + 1, static_cast<std::size_t>(at));
  }
}

std::string csv_of(const RadiusLists& lists) {
  std::string text = "query,rank,index,distance\n";
  for_entries(lists, [&](std::int64_t query, std::int64_t rank, std::size_t at) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{}\n", query, rank, lists.indices[at], lists.distances[at]);
  });
  return text;
}

std::string npy_of(const RadiusLists& lists) {
  auto bytes = neighbors::npy_header("[('query', '<i4'), ('index', '<i4'), ('distance', '<f8')]",
                                     fmt::format("{},", lists.indices.size()));
  for_entries(lists, [&](std::int64_t query, std::int64_t, std::size_t at) {
    append(bytes, static_cast<std::int32_t>(query));
    append(bytes, lists.indices[at]);
    append(bytes, lists.distances[at]);
  });
  return bytes;
}

std::string json_of(const RadiusLists& lists) {
  Json answer = Json::array();
  for (std::int64_t i = 0; i < lists.queries(); ++i)
    answer.push_back({{"query", i}, {"indices", Json::array()}, {"distances", Json::array()}});
  for_entries(lists, [&](std::int64_t query, std::int64_t, std::size_t at) {
    answer[static_cast<std::size_t>(query)]["indices"].push_back(lists.indices[at]);
    answer[static_cast<std::size_t>(query)]["distances"].push_back(lists.distances[at]);
  });
  return answer.dump() + "\n";
}

std::string binary_of(const RadiusLists& lists) {
  std::string bytes = "SHEAFNN1";
  append(bytes, lists.queries());
  append(bytes, static_cast<std::int64_t>(lists.indices.size()));
  append_all(bytes, lists.offsets);
  append_all(bytes, lists.indices);
  append_all(bytes, lists.distances);
  return bytes;
}

struct Row {
  Format format;
  std::string (*write)(const RadiusLists& lists);
};
constexpr std::array table{
    Row{{"csv", "csv", "query,rank,index,distance"}, csv_of},
    Row{{"npy", "npy", "NumPy: records of query, index and distance"}, npy_of},
    Row{{"json", "json", "one object for each query"}, json_of},
    Row{{"binary", "bin",
         "SHEAFNN1; 64-bit numbers of queries and entries; offsets; 32-bit indices; distances; little-endian"},
        binary_of},
};
constexpr auto public_table = public_part(table);

}  // namespace

std::span<const Format> neighbor_formats() { return public_table; }

std::string format_neighbors(const RadiusLists& lists, std::string_view format) {
  const Format& found = format_named(format, public_table, "format of lists");
  return table[static_cast<std::size_t>(&found - public_table.data())].write(lists);
}

std::string format_neighbors(const NeighborLists& lists, std::string_view format) {
  return format_neighbors(with_offsets(lists), format);
}

}  // namespace sheaf
