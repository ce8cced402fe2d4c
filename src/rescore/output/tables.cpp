// Results as text: Percolator's tables.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include <sheaf/rescore.hpp>

#include "core/parallel.hpp"
#include "data/bytes/sink.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t lines_at_once = 1 << 14;

void append(fmt::memory_buffer& text, std::string_view more) { text.append(more.data(), more.data() + more.size()); }

/// Proteins that are not empty, apart by the separator; of other separators than tabs only the first field is proteins.
void append_proteins(fmt::memory_buffer& text, std::string_view proteins, const std::string& separator) {
  if (separator != "\t") proteins = proteins.substr(0, proteins.find('\t'));
  bool first = true;
  while (!proteins.empty()) {
    const auto end = std::min(proteins.find(separator), proteins.size());
    if (end > 0) {
      if (!first) append(text, separator);
      append(text, proteins.substr(0, end));
      first = false;
    }
    proteins.remove_prefix(std::min(end + separator.size(), proteins.size()));
  }
}

std::string head(const RescoreTable& table, bool files) {
  if (table.mokapot_names)
    return fmt::format("SpecId\t{}Label\tPeptide\tmokapot score\tmokapot q-value\tmokapot PEP\tProteins\n",
                       files ? "filename\t" : "");
  return fmt::format("PSMId\t{}score\tq-value\tposterior_error_prob\tpeptide\tproteinIds{}\n",
                     files ? "filename\t" : "", table.times ? "\trt" : "");
}

void append_line(fmt::memory_buffer& text, const PsmView& psm, const RescoreLevel& level, std::size_t place,
                 const RescoreTable& table) {
  append(text, psm.id);
  if (!psm.file.empty()) {
    text.push_back('\t');
    append(text, psm.file);
  }
  const auto out = fmt::appender(text);
  if (table.mokapot_names)
    fmt::format_to(out, "\t{}\t{}\t{:g}\t{:g}\t{:g}\t", psm.target ? "True" : "False", psm.peptide, level.scores[place],
                   level.q[place], level.pep[place]);
  else
    fmt::format_to(out, "\t{:g}\t{:g}\t{:g}\t{}\t", level.scores[place], level.q[place], level.pep[place], psm.peptide);
  append_proteins(text, psm.proteins, table.protein_separator);
  if (table.times && !table.mokapot_names) {
    text.push_back('\t');
    append(text, psm.time.empty() ? std::string_view("nan") : psm.time);
  }
  text.push_back('\n');
}

}  // namespace

void write_level(const Context& context, const RescoreResult& result, const RescoreLevel& level,
                 const RescoreTable& table, const std::string& path) {
  const auto sink = open_sink(path);
  const bool files = !level.rows.empty() && !result.text(level.rows[0]).file.empty();
  sink->write(head(table, files));
  const auto count = static_cast<std::int64_t>(level.rows.size());
  const std::int64_t pieces = (count + lines_at_once - 1) / lines_at_once;
  const auto together = static_cast<std::int64_t>(context.threads()) * 4;
  // While some pieces are made, the ones before are written.
  std::vector<fmt::memory_buffer> ready;
  for (std::int64_t first = 0; first < pieces || !ready.empty(); first += together) {
    std::vector<fmt::memory_buffer> texts(
        static_cast<std::size_t>(std::clamp<std::int64_t>(pieces - first, 0, together)));
    parallel_for(context, static_cast<std::int64_t>(texts.size()) + 1, [&](std::int64_t k) {
      if (k == 0) {
        for (const auto& text : ready) sink->write({text.data(), text.size()});
        return;
      }
      const std::int64_t begin = (first + k - 1) * lines_at_once;
      for (std::int64_t i = begin; i < std::min(count, begin + lines_at_once); ++i) {
        const std::int32_t row = level.rows[static_cast<std::size_t>(i)];
        if (result.is_target(row) == table.targets)
          append_line(texts[static_cast<std::size_t>(k - 1)], result.text(row), level, static_cast<std::size_t>(i),
                      table);
      }
    });
    ready = std::move(texts);
  }
  sink->finish();
}

}  // namespace sheaf
