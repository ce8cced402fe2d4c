// Results as text: Percolator's tables.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include <sheaf/rescore.hpp>

#include "core/parallel.hpp"
#include "data/write/sink.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t lines_at_once = 1 << 14;

/// Proteins that are not empty, apart by the separator; of other separators than tabs only the first field is proteins.
void append_proteins(std::string& text, std::string_view proteins, const std::string& separator) {
  if (separator != "\t") proteins = proteins.substr(0, proteins.find('\t'));
  bool first = true;
  while (!proteins.empty()) {
    const auto end = std::min(proteins.find(separator), proteins.size());
    if (end > 0) {
      if (!first) text += separator;
      text += proteins.substr(0, end);
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

void append_line(std::string& text, const PsmView& psm, const RescoreLevel& level, std::size_t place,
                 const RescoreTable& table) {
  text += psm.id;
  if (!psm.file.empty()) {
    text += '\t';
    text += psm.file;
  }
  const auto out = std::back_inserter(text);
  if (table.mokapot_names)
    fmt::format_to(out, "\t{}\t{}\t{:g}\t{:g}\t{:g}\t", psm.target ? "True" : "False", psm.peptide, level.scores[place],
                   level.q[place], level.pep[place]);
  else
    fmt::format_to(out, "\t{:g}\t{:g}\t{:g}\t{}\t", level.scores[place], level.q[place], level.pep[place], psm.peptide);
  append_proteins(text, psm.proteins, table.protein_separator);
  if (table.times && !table.mokapot_names) {
    text += '\t';
    text += psm.time.empty() ? std::string_view("nan") : psm.time;
  }
  text += '\n';
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
  for (std::int64_t first = 0; first < pieces; first += together) {
    std::vector<std::string> texts(static_cast<std::size_t>(std::min(together, pieces - first)));
    parallel_for(context, static_cast<std::int64_t>(texts.size()), [&](std::int64_t k) {
      const std::int64_t begin = (first + k) * lines_at_once;
      for (std::int64_t i = begin; i < std::min(count, begin + lines_at_once); ++i) {
        const std::int32_t row = level.rows[static_cast<std::size_t>(i)];
        if (result.is_target(row) == table.targets)
          append_line(texts[static_cast<std::size_t>(k)], result.text(row), level, static_cast<std::size_t>(i), table);
      }
    });
    for (const auto& text : texts) sink->write(text);
  }
  sink->finish();
}

}  // namespace sheaf
