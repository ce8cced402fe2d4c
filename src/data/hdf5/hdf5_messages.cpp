#include "data/hdf5/hdf5_messages.hpp"

namespace sheaf::hdf5 {
namespace {

/// Whether a number of so many bytes is one of IEEE 754, from the properties of the type.
bool is_ieee(Bytes& properties, std::size_t bytes) {
  const auto exponent_at = properties.byte(), exponent_bits = properties.byte(), mantissa_at = properties.byte(),
             mantissa_bits = properties.byte();
  const auto bias = properties.number<std::uint32_t>();
  const unsigned mantissa = bytes == 2 ? 10 : bytes == 4 ? 23 : 52;
  const auto exponent = static_cast<unsigned>(8 * bytes) - 1 - mantissa;
  return (bytes == 2 || bytes == 4 || bytes == 8) && mantissa_at == 0 && mantissa_bits == mantissa &&
         exponent_at == mantissa && exponent_bits == exponent && bias == (1U << (exponent - 1)) - 1;
}

}  // namespace

Type read_type(Bytes from) {
  constexpr bool little = std::endian::native == std::endian::little;
  const auto first = from.byte();
  const auto bits = from.number(3);
  Type type;
  type.bytes = from.number<std::uint32_t>();
  if (type.bytes == 0) from.damaged();
  const auto big_end = (bits & 1U) != 0;
  switch (first & 15U) {
    case 0:
    case 1: {
      const bool is_float = (first & 15U) == 1;
      const auto offset = from.number<std::uint16_t>(), precision = from.number<std::uint16_t>();
      type.element = {is_float ? 'f' : (bits & 8U) != 0 ? 'i' : 'u', type.bytes, big_end == little};
      if (offset == 0 && precision == 8 * type.bytes && type.element.is_number() &&
          (!is_float || ((bits & 0x40U) == 0 && is_ieee(from, type.bytes))))
        type.kind = Type::Kind::number;
      return type;
    }
    case 3:
      type.kind = Type::Kind::text;
      return type;
    case 8: {
      if (auto next = from; (next.byte() & 15U) != 0) from.damaged();  // whole numbers have names
      const auto base = read_type(from);
      if (base.bytes != type.bytes) from.damaged();
      type.element = base.element;
      type.kind = type.bytes == 1 && base.kind == Type::Kind::number ? Type::Kind::truth : Type::Kind::other;
      return type;
    }
    case 9:
      if ((bits & 15U) == 1) type.kind = Type::Kind::heap_text;
      return type;
    default:
      return type;
  }
}

std::vector<std::int64_t> read_shape(Bytes from) {
  const auto version = from.byte(), dimensions = from.byte();
  from.byte();
  const auto kind = from.byte();
  if (version == 1) from.take(4);
  if (version != 1 && version != 2) from.damaged();
  constexpr int most_dimensions = 32;
  if (dimensions > most_dimensions) from.damaged();
  if (version == 2 && kind == 2) return {0};  // holds nothing
  std::vector<std::int64_t> shape;
  for (int k = 0; k < dimensions; ++k) {
    const auto size = from.number<std::uint64_t>();
    shape.push_back(static_cast<std::int64_t>(std::min<std::uint64_t>(size, INT64_MAX)));
  }
  return shape;
}

std::vector<Filter> read_filters(Bytes from) {
  const auto version = from.byte(), count = from.byte();
  if (version != 1 && version != 2) from.damaged();
  if (version == 1) from.take(6);
  std::vector<Filter> filters;
  for (int k = 0; k < count; ++k) {
    constexpr std::uint16_t first_with_name = 256;
    const auto number = from.number<std::uint16_t>();
    const auto name = version == 1 || number >= first_with_name ? from.number<std::uint16_t>() : 0U;
    from.take(2);
    const auto values = from.number<std::uint16_t>();
    from.take(version == 1 ? (name + 7) / 8 * 8 : name);
    from.take((version == 1 ? values + values % 2U : values) * std::uint64_t{4});
    filters.push_back(static_cast<Filter>(number));
  }
  return filters;
}

std::string_view read_fill(Bytes from) {
  const auto version = from.byte();
  constexpr unsigned is_given = 0x20;
  if (version == 3) {
    if ((from.byte() & is_given) == 0) return {};
  } else if (version == 1 || version == 2) {
    from.take(2);
    if (from.byte() == 0 && version == 2) return {};
  } else {
    from.damaged();
  }
  return from.take(from.number<std::uint32_t>());
}

std::string_view read_old_fill(Bytes from) { return from.take(from.number<std::uint32_t>()); }

}  // namespace sheaf::hdf5
