#include "data/hdf5/hdf5_heap.hpp"

#include <algorithm>
#include <bit>

#include "data/bytes/elements.hpp"

namespace sheaf {
namespace {

/// HDF5's own numbers have their lowest byte first.
template <class Number>
Number load(const char* at) {
  return load_element<Number>(at, 0, std::endian::native == std::endian::big);
}

constexpr std::size_t header_bytes = 16;  // of a collection, and of each object
constexpr std::size_t most_objects = UINT16_MAX;

}  // namespace

HeapReference HeapReference::load(const char* stored) {
  return {sheaf::load<std::uint32_t>(stored), sheaf::load<std::uint64_t>(stored + 4),
          sheaf::load<std::uint32_t>(stored + 12)};
}

/// A header (GCOL, version 1, 3 bytes, size), then objects: number, references, 4 bytes, size, and its bytes up to the
/// next multiple of 8. The number 0 is the free space behind them. A damaged collection ends where the damage begins.
std::vector<Hdf5Heap::Object> Hdf5Heap::read_collection(std::uint64_t at) const {
  std::vector<Object> objects;
  if (at > file_.size() || file_.size() - at < header_bytes) return objects;
  auto rest = file_.substr(at);
  if (!rest.starts_with(std::string_view("GCOL\1", 5))) return objects;
  rest = rest.substr(0, load<std::uint64_t>(rest.data() + 8));
  for (std::size_t used = header_bytes; used + header_bytes <= rest.size() && objects.size() < most_objects;) {
    const auto number = load<std::uint16_t>(rest.data() + used);
    const auto size = load<std::uint64_t>(rest.data() + used + 8);
    used += header_bytes;
    if (number == 0 || size > rest.size() - used) break;
    objects.push_back({number, rest.substr(used, size)});
    used += (size + 7) / 8 * 8;
  }
  std::stable_sort(objects.begin(), objects.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  return objects;
}

const std::vector<Hdf5Heap::Object>& Hdf5Heap::collection(std::uint64_t at) {
  constexpr std::size_t most_kept = std::size_t{1} << 20;
  const auto found = collections_.find(at);
  if (found != collections_.end()) return found->second;
  if (kept_ > most_kept) {
    collections_.clear();
    kept_ = 0;
  }
  auto objects = read_collection(at);
  kept_ += objects.size() + 1;
  return collections_.emplace(at, std::move(objects)).first->second;
}

std::optional<std::string_view> Hdf5Heap::find(const HeapReference& reference) {
  if (reference.collection == 0 || reference.bytes == 0) return std::string_view();
  const auto& objects = collection(reference.collection);
  const auto found =
      std::lower_bound(objects.begin(), objects.end(), reference.object,
                       [](const Object& object, std::uint32_t number) { return object.number < number; });
  if (found == objects.end() || found->number != reference.object || found->bytes.size() < reference.bytes)
    return std::nullopt;
  return found->bytes.substr(0, reference.bytes);
}

}  // namespace sheaf
