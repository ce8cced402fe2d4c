#include "report/svg.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/text.hpp"

namespace sheaf::report {
namespace {

constexpr double tick_room = 70;  // pixels for one number on the bottom axis
constexpr double tick_height = 45;

std::string tip_element(std::string_view tip) {
  return tip.empty() ? "" : fmt::format("<title>{}</title>", escaped(tip));
}

std::string_view name(Anchor anchor) {
  return anchor == Anchor::start ? "start" : anchor == Anchor::middle ? "middle" : "end";
}

/// Powers of ten, fewer if they would crowd, with 2 and 5 times them if they are few.
std::vector<double> log_ticks(double low, double high, int count) {
  const int from = static_cast<int>(std::floor(std::log10(low)));
  const int to = static_cast<int>(std::ceil(std::log10(high)));
  const int step = std::max(1, (to - from) / std::max(count, 1));
  const bool few = std::log10(high / low) < 2;
  std::vector<double> ticks;
  for (int exponent = from; exponent <= to; exponent += step)
    for (const double lead : {1.0, 2.0, 5.0}) {
      const double tick = lead * std::pow(10.0, exponent);
      if ((lead == 1 || few) && tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push_back(tick);
    }
  return ticks;
}

/// 1, 2 or 5 times a power of ten.
double round_step(double rough) {
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double lead = rough / power;
  return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

std::string short_name(const std::string& name) {
  constexpr std::size_t longest = 20;
  std::size_t bytes = 0;
  for (std::size_t shown = 0; bytes < name.size(); ++bytes) {
    const bool begins = (static_cast<unsigned char>(name[bytes]) & 0xC0U) != 0x80U;  // UTF-8
    if (begins && ++shown > longest) break;
  }
  return bytes < name.size() ? name.substr(0, bytes) + "…" : name;
}

double Axis::operator()(double value) const {
  if (!(high > low)) return (first + last) / 2;
  const double share =
      logarithmic ? std::log(std::max(value, low) / low) / std::log(high / low) : (value - low) / (high - low);
  return first + std::clamp(share, 0.0, 1.0) * (last - first);
}

std::vector<double> Axis::ticks(int count) const {
  if (!(high > low)) return {low};
  if (logarithmic) return log_ticks(low, high, count);
  const double step = round_step((high - low) / std::max(count, 1));
  const double begin = std::ceil(low / step - 1e-9);
  const double steps = std::floor(high / step + 1e-9) - begin;
  if (!(steps >= 0 && steps <= 10.0 * std::max(count, 1))) return {low, high};  // steps are below double's resolution
  std::vector<double> ticks;
  for (double k = 0; k <= steps; ++k) ticks.push_back((begin + k) * step + 0.0);
  return ticks;
}

Axis parameter_axis(double low, double high, double first, double last) {
  const bool logarithmic = low > 0;
  if (low == high) {
    const double reach = low == 0 ? 1 : std::abs(low);
    low = logarithmic ? low / 10 : low - reach;
    high = logarithmic ? high * 10 : high + reach;
  }
  return {low, high, first, last, logarithmic};
}

std::string axis_title(std::string_view title, const Axis& axis) {
  return axis.logarithmic ? fmt::format("{} (log scale)", title) : std::string(title);
}

std::string tick_text(double value) {
  const double size = std::abs(value);
  if (size >= 1e9) return fmt::format("{:g}G", value / 1e9);
  if (size >= 1e6) return fmt::format("{:g}M", value / 1e6);
  if (size >= 1e4) return fmt::format("{:g}k", value / 1e3);
  if (size >= 1e3) return grouped(std::llround(value));
  return fmt::format("{:.4g}", size < 1e-12 ? 0.0 : value);
}

std::string line_through(const std::vector<ChartPoint>& points) {
  std::string data;
  for (const auto& p : points) data += fmt::format("{}{:.1f} {:.1f}", data.empty() ? "M" : "L", p.x, p.y);
  return data;
}

std::string area_between(const std::vector<ChartPoint>& upper, std::vector<ChartPoint> lower) {
  std::reverse(lower.begin(), lower.end());
  auto data = line_through(upper);
  for (const auto& p : lower) data += fmt::format("L{:.1f} {:.1f}", p.x, p.y);
  return data + "Z";
}

Chart::Chart(double width, double height, std::string_view description, Kind kind)
    : body_(fmt::format("<svg viewBox=\"0 0 {:g} {:g}\"{} role=\"img\" aria-label=\"{}\">\n", width, height,
                        kind == Kind::plot  ? ""
                        : kind == Kind::map ? " class=\"map\""
                                            : " class=\"map wide\"",
                        escaped(description))) {}

void Chart::line(double x1, double y1, double x2, double y2, std::string_view css) {
  body_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2, y2,
                       css);
}

void Chart::box(double x, double y, double width, double height, std::string_view css, std::string_view tip,
                double radius) {
  body_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{:g}\" class=\"{}\">{}</rect>\n", x, y,
      std::max(width, 0.0), std::max(height, 0.0), radius, css, tip_element(tip));
}

void Chart::shade(double x, double y, double width, double height, std::string_view css, double opacity,
                  std::string_view tip) {
  body_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\" opacity=\"{:.3f}\">{}</rect>\n",
      x, y, width, height, css, opacity, tip_element(tip));
}

void Chart::dot(double x, double y, double radius, std::string_view css, std::string_view tip) {
  body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:g}\" class=\"{}\">{}</circle>\n", x, y, radius, css,
                       tip_element(tip));
}

void Chart::path(std::string_view data, std::string_view css, double opacity) {
  body_ += fmt::format("<path d=\"{}\" class=\"{}\" opacity=\"{:.2f}\"/>\n", data, css, opacity);
}

void Chart::text(double x, double y, std::string_view text, std::string_view css, Anchor anchor) {
  body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y, css,
                       name(anchor), escaped(text));
}

void Chart::bottom_axis(const Axis& axis, double top, double bottom, std::string_view title) {
  const int count = static_cast<int>(std::abs(axis.last - axis.first) / tick_room);
  for (const double tick : axis.ticks(count)) {
    line(axis(tick), top, axis(tick), bottom, "grid");
    text(axis(tick), bottom + 16, tick_text(tick), "tick", Anchor::middle);
  }
  text((axis.first + axis.last) / 2, bottom + 34, title, "axis", Anchor::middle);
}

void Chart::left_axis(const Axis& axis, double left, double right, std::string_view title) {
  const int count = static_cast<int>(std::abs(axis.last - axis.first) / tick_height);
  for (const double tick : axis.ticks(count)) {
    line(left, axis(tick), right, axis(tick), "grid");
    text(left - 8, axis(tick) + 4, tick_text(tick), "tick", Anchor::end);
  }
  text(left, std::min(axis.first, axis.last) - 12, title, "axis", Anchor::start);
}

void Chart::scale(double x, double y, std::string_view css, const std::vector<double>& opacities, std::string_view low,
                  std::string_view high) {
  constexpr double width = 14;
  body_ += "<g class=\"scale\">\n";
  text(x - 6, y + 9, low, "tick", Anchor::end);
  for (std::size_t k = 0; k < opacities.size(); ++k)
    shade(x + width * static_cast<double>(k), y, width, 10, css, opacities[k], "");
  text(x + width * static_cast<double>(opacities.size()) + 6, y + 9, high, "tick");
  body_ += "</g>\n";
}

std::string Chart::finish() {
  if (!data_.empty()) body_ += "<metadata>" + escaped(data_) + "</metadata>\n";
  return std::move(body_) + "</svg>\n";
}

}  // namespace sheaf::report
