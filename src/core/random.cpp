// xoshiro256**: Blackman and Vigna 2018. Bounded integers: Lemire 2019. Gamma: Marsaglia and Tsang 2000.
#include "core/random.hpp"

#include <bit>
#include <cmath>

namespace sheaf {
namespace {

std::uint64_t splitmix(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace

Random::Random(std::uint64_t seed, std::uint64_t stream) {
  std::uint64_t mix = seed;
  mix = splitmix(mix) ^ (stream * 0xd1342543de82ef95U);
  for (auto& word : state_) word = splitmix(mix);
}

std::uint64_t Random::bits() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

std::uint64_t Random::below(std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t threshold = -bound % bound;
  while (true) {
    const Wide product = static_cast<Wide>(bits()) * bound;
    if (static_cast<std::uint64_t>(product) >= threshold) return static_cast<std::uint64_t>(product >> 64);
  }
}

double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_normal_;
  }
  double u = 0;
  double v = 0;
  double s = 0;
  do {
    u = uniform(-1, 1);
    v = uniform(-1, 1);
    s = u * u + v * v;
  } while (s >= 1 || s == 0);
  const double scale = std::sqrt(-2 * std::log(s) / s);
  spare_normal_ = v * scale;
  has_spare_ = true;
  return u * scale;
}

double Random::exponential() { return -std::log1p(-uniform()); }

double Random::gamma(double shape) {
  if (shape < 1) return gamma(shape + 1) * std::pow(1 - uniform(), 1 / shape);
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal();
    const double v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log(1 - uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

std::int64_t Random::poisson(double mean) {
  // Sums of Poisson variables are Poisson: halving by a gamma draw keeps the product method short for any mean.
  std::int64_t count = 0;
  while (mean > 30) {
    const auto k = static_cast<std::int64_t>(mean * 7 / 8);
    const double arrival = gamma(static_cast<double>(k));
    if (arrival > mean) {  // the k-th event came too late: the k-1 before it are uniform in [0, arrival)
      for (std::int64_t i = 1; i < k; ++i) count += uniform() * arrival < mean ? 1 : 0;
      return count;
    }
    count += k;
    mean -= arrival;
  }
  const double limit = std::exp(-mean);
  double product = 1 - uniform();
  while (product > limit) {
    ++count;
    product *= 1 - uniform();
  }
  return count;
}

}  // namespace sheaf
