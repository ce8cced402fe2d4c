#include "rescore/confidence/peptides.hpp"

#include <algorithm>
#include <vector>

#include "data/read/reading.hpp"
#include "data/text/number.hpp"
#include "rescore/input/buckets.hpp"

namespace sheaf::rescore {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t word, std::uint64_t factor) {
  hash = (hash ^ word) * factor;
  return hash ^ (hash >> 32U);
}

/// The files one after the other, cut into windows.
template <class T>
struct Windows {
  const Psms<T>& psms;
  std::vector<std::int64_t> begins{0};  // of each file, and the end of the last
  std::int64_t bytes = 0;               // of a window
  std::int64_t count = 0;

  explicit Windows(const Psms<T>& all) : psms(all) {
    constexpr std::int64_t least = 1 << 20;
    constexpr std::int64_t most = 4096;
    for (const PinFile& file : psms.pins)
      begins.push_back(begins.back() + static_cast<std::int64_t>(file.contents().size()));
    bytes = std::max(least, begins.back() / most + 1);
    count = begins.back() / bytes + 1;
  }
  std::int64_t of(std::int64_t row) const {
    const LinePlace place = psms.lines[row];
    return (begins[place.file()] + place.byte()) / bytes;
  }
  void let_go_of(const Context& context, std::int64_t window) const {
    for (std::size_t f = 0; f < psms.pins.size(); ++f) {
      const PinFile& file = psms.pins[f];
      const std::int64_t begin = std::max(begins[f], window * bytes) - begins[f];
      const std::int64_t end = std::min(begins[f + 1], (window + 1) * bytes) - begins[f];
      if (begin >= end || file.made) continue;
      const ReadOptions options;
      Reading reading{context, file.contents(), file.name, options};
      reading.mapped = file.source->mapped();
      release_pages(reading, {reading.text.data() + begin, reading.text.data() + end});
    }
  }
};

}  // namespace

std::string_view peptide_key(std::string_view peptide, RescoreRules rules) {
  const std::size_t size = peptide.size();
  const bool flanked = size > 4 && peptide[1] == '.' && peptide[size - 2] == '.';
  if (rules == RescoreRules::safe ? !flanked : size < 4) return peptide;
  return peptide.substr(2, size - 4);
}

Fingerprint peptide_fingerprint(std::string_view peptide, bool target, RescoreRules rules) {
  const std::string_view key = peptide_key(peptide, rules);
  constexpr std::uint64_t factor_low = 0x9E3779B97F4A7C15U;
  constexpr std::uint64_t factor_high = 0xC2B2AE3D27D4EB4FU;
  const std::uint64_t start = 2 * static_cast<std::uint64_t>(key.size()) + (target ? 1 : 0);
  Fingerprint print{mix(0, start, factor_low), mix(~start, start, factor_high)};
  const char* end = key.data() + key.size();
  for (const char* at = key.data(); at < end; at += 8) {
    const std::uint64_t word = load_eight(at, end);
    print.low = mix(print.low, word, factor_low);
    print.high = mix(print.high, word, factor_high);
  }
  return {mix(print.low, 0, 0x94D049BB133111EBU), mix(print.high, 0, 0xBF58476D1CE4E5B9U)};
}

template <class T>
Array<Fingerprint> peptide_fingerprints(const Context& context, const Psms<T>& psms, RescoreRules rules) {
  Array<Fingerprint> prints(psms.size());
  const Windows<T> windows(psms);
  const auto in_windows =
      put_in_buckets(context, psms.size(), windows.count, [&](std::int64_t i) { return windows.of(i); });
  parallel_for(context, windows.count, [&](std::int64_t window) {
    for (const std::int32_t i : in_windows[window])
      prints[i] = peptide_fingerprint(psms.text(i).peptide, psms.labels[i] > 0, rules);
    windows.let_go_of(context, window);
  });
  return prints;
}

template Array<Fingerprint> peptide_fingerprints(const Context&, const Psms<float>&, RescoreRules);
template Array<Fingerprint> peptide_fingerprints(const Context&, const Psms<double>&, RescoreRules);

}  // namespace sheaf::rescore
