#include "report/page.hpp"

#include <fmt/format.h>

#include "report/svg.hpp"

namespace sheaf::report {
namespace {

constexpr std::string_view style = R"css(
:root { color-scheme: light dark;
  --paper: #f6f5f1; --card: #ffffff; --ink: #1c2330; --soft: #626b79; --rule: #e4e1d8; --grid: #ebe8e0;
  --c0: #2a6f97; --c1: #d9772b; --c2: #5a8f3d; --c3: #9a4f96; --c4: #b8952a; --c5: #3f9c8f; --c6: #b5485d; --c7: #6b7aa1;
  --warn: #b45309; --warn-paper: #fdf3e3; --note-paper: #eef4f8; }
@media screen and (prefers-color-scheme: dark) { :root {
  --paper: #12151a; --card: #1a1f26; --ink: #e7e9ec; --soft: #98a2b0; --rule: #2c333d; --grid: #262c35;
  --c0: #6db3d8; --c1: #f0a062; --c2: #93c472; --c3: #c98cc6; --c4: #dcc063; --c5: #74cabd; --c6: #e08a9b; --c7: #a3b0d4;
  --warn: #f3b562; --warn-paper: #2b2318; --note-paper: #1c2731; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 2.5rem 1.25rem 3rem; }
header h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .3rem; letter-spacing: -.01em; overflow-wrap: anywhere; }
header p { margin: 0; color: var(--soft); }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(10.75rem, 1fr)); gap: .75rem; margin: 1.6rem 0; }
.tile { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: .8rem 1rem; }
.tile b { display: block; font-size: 1.02rem; font-weight: 650; overflow-wrap: anywhere; letter-spacing: -.01em; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: .85rem; }
.cards { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem; }
.card { background: var(--card); border: 1px solid var(--rule); border-radius: 12px; padding: 1.15rem 1.25rem 1rem; min-width: 0; }
.card.wide { grid-column: 1 / -1; }
.card h2 { font-size: 1.05rem; margin: 0 0 .15rem; }
.card > p { margin: 0 0 .8rem; color: var(--soft); font-size: .9rem; max-width: 75ch; }
.findings { list-style: none; margin: 0; padding: 0; display: grid; gap: .5rem; }
.findings li { padding: .55rem .8rem; border-radius: 8px; background: var(--note-paper); border-left: 3px solid var(--c0); }
.findings li.warning { background: var(--warn-paper); border-left-color: var(--warn); }
.findings b { font-weight: 600; }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; margin: 0 0 .5rem; font-size: .85rem; color: var(--soft); }
.legend i { display: inline-block; width: .75rem; height: .75rem; border-radius: 3px; margin-right: .4rem; vertical-align: -.08rem; }
svg { display: block; width: 100%; height: auto; }
svg text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: var(--ink); font-variant-numeric: tabular-nums; }
svg .tick, svg .axis, svg .soft { fill: var(--soft); }
svg .tick { font-size: 11px; }
svg .small { font-size: 10px; }
svg .grid { stroke: var(--grid); stroke-width: 1; }
svg .stem { stroke: var(--soft); stroke-width: 1.2; }
svg .zero { stroke: var(--soft); stroke-width: 1; }
svg .chance { fill: var(--soft); opacity: .14; }
svg .edge { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 3 3; }
svg .outline { fill: none; stroke: var(--ink); stroke-width: 1.5; }
svg .ring { fill: none; stroke: var(--c1); stroke-width: 1.8; }
svg .line0 { fill: none; stroke: var(--c0); stroke-width: 1.8; }
svg .line1 { fill: none; stroke: var(--c1); stroke-width: 1.8; }
svg .line2 { fill: none; stroke: var(--c2); stroke-width: 1.8; } svg .line3 { fill: none; stroke: var(--c3); stroke-width: 1.8; }
svg .line4 { fill: none; stroke: var(--c4); stroke-width: 1.8; } svg .line5 { fill: none; stroke: var(--c5); stroke-width: 1.8; }
svg .line6 { fill: none; stroke: var(--c6); stroke-width: 1.8; } svg .line7 { fill: none; stroke: var(--c7); stroke-width: 1.8; }
svg .faint { fill: none; stroke: var(--soft); stroke-width: .8; }
.f0 { fill: var(--c0); background: var(--c0); } .f1 { fill: var(--c1); background: var(--c1); }
.f2 { fill: var(--c2); background: var(--c2); } .f3 { fill: var(--c3); background: var(--c3); }
.f4 { fill: var(--c4); background: var(--c4); } .f5 { fill: var(--c5); background: var(--c5); }
.f6 { fill: var(--c6); background: var(--c6); } .f7 { fill: var(--c7); background: var(--c7); }
svg .point { fill: var(--ink); opacity: .55; }
.grey { fill: var(--soft); background: var(--soft); opacity: .35; }
.s0 { stroke: var(--c0); stroke-width: 5; stroke-linecap: round; opacity: .35; }
.scroll { overflow-x: auto; }
.save { display: flex; gap: .4rem; justify-content: flex-end; margin-top: .5rem; }
.save button { font: inherit; font-size: .78rem; color: var(--soft); background: none; border: 1px solid var(--rule); border-radius: 6px;
  padding: .15rem .55rem; cursor: pointer; }
.save button:hover, .save button:focus-visible { color: var(--ink); border-color: var(--soft); }
table { border-collapse: collapse; width: 100%; font-size: .88rem; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; color: var(--soft); border-bottom: 1px solid var(--rule); }
th, td { padding: .36rem .7rem .36rem 0; white-space: nowrap; }
td { border-bottom: 1px solid var(--grid); }
tr.marked td { background: var(--note-paper); font-weight: 600; }
th:first-child, td:first-child { position: sticky; left: 0; background: var(--card); }
tr.marked td:first-child { background: var(--note-paper); }
.r { text-align: right; }
footer { color: var(--soft); font-size: .85rem; margin-top: 1.5rem; }
@media (max-width: 820px) { .cards { grid-template-columns: minmax(0, 1fr); } }
@media (max-width: 520px) { main { padding: 1.5rem .75rem 2rem; } .card { padding: .9rem .85rem .8rem; border-radius: 10px; }
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: .5rem; } .tile { padding: .6rem .7rem; } svg.wide { width: 760px; } }
@media print { @page { margin: 14mm; } html { font-size: 11px; } body { background: none; font-size: 1rem; }
  main { max-width: none; padding: 0; } .save { display: none; }
  .cards { grid-template-columns: repeat(2, minmax(0, 1fr)); } .tiles { grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); }
  .card, .tile { break-inside: avoid; border-color: #ccc; } .card:has(table) { break-inside: auto; } tr { break-inside: avoid; }
  .scroll { overflow: visible; } th, td { white-space: normal; padding: .2rem .4rem .2rem 0; }
  .long > * { display: none; } .long::after { content: "Too long to print: it is in scores.csv, and in this report on the screen."; } }
)css";

/// Saves a plot with its title and legend, in the colours of the light page, as SVG, and its data as CSV.
constexpr std::string_view script = R"js(
(() => {
  const light = document.querySelector("style").textContent.replace(/@media screen and \(prefers-color-scheme: dark\) \{[^}]*\} \}/, "");
  const space = "http://www.w3.org/2000/svg";
  const make = (name, attributes, text) => {
    const element = document.createElementNS(space, name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text) element.textContent = text;
    return element;
  };
  const save = (text, type, name) => {
    const link = document.createElement("a");
    link.download = name;
    link.setAttribute("href", URL.createObjectURL(new Blob([text], { type })));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.getAttribute("href")), 1000);
  };
  const title = card => card.querySelector("h2").textContent;
  const name = (svg, card) => {
    const number = [...card.querySelectorAll("svg")].indexOf(svg);
    return title(card).toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") + (number > 0 ? "-" + (number + 1) : "");
  };
  const picture = (svg, card) => {
    const copy = svg.cloneNode(true);
    const box = svg.viewBox.baseVal;
    const marks = [...card.querySelectorAll(".legend span")];
    const foot = marks.length > 0 ? 26 : 4;
    copy.removeAttribute("class");
    copy.setAttribute("xmlns", space);
    copy.setAttribute("viewBox", `0 -28 ${box.width} ${box.height + 28 + foot}`);
    copy.setAttribute("width", box.width);
    copy.setAttribute("height", box.height + 28 + foot);
    let x = 12;
    for (const mark of marks) {
      copy.append(make("rect", { x, y: box.height + 6, width: 10, height: 10, rx: 2, class: mark.querySelector("i").className }));
      copy.append(make("text", { x: x + 15, y: box.height + 15, class: "tick" }, mark.textContent));
      x += 40 + 7 * mark.textContent.length;
    }
    copy.prepend(make("style", {}, light));
    copy.append(make("text", { x: 12, y: -10, style: "font-weight: 600; font-size: 14px" }, title(card)));
    return new XMLSerializer().serializeToString(copy);
  };
  window.sheafReport = { picture };
  for (const svg of document.querySelectorAll(".card svg")) {
    const card = svg.closest(".card");
    const bar = document.createElement("div");
    bar.className = "save";
    const button = (text, about, action) => {
      const one = document.createElement("button");
      one.type = "button";
      one.textContent = text;
      one.title = about;
      one.onclick = action;
      bar.append(one);
    };
    button("SVG", "save this plot as SVG", () => save(picture(svg, card), "image/svg+xml", name(svg, card) + ".svg"));
    const data = svg.querySelector("metadata");
    if (data) button("CSV", "save the data of this plot as CSV", () => save(data.textContent, "text/csv", name(svg, card) + ".csv"));
    (svg.closest(".scroll") || svg).after(bar);
  }
})();
)js";

}  // namespace

std::string tiles(const std::vector<Tile>& list) {
  std::string html = "<div class=\"tiles\">\n";
  for (const auto& tile : list)
    html +=
        fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n", escaped(tile.value), escaped(tile.label));
  return html + "</div>\n";
}

std::string card(std::string_view title, std::string_view about, std::string_view content, bool wide) {
  const auto paragraph = about.empty() ? std::string() : fmt::format("<p>{}</p>\n", escaped(about));
  return fmt::format("<section class=\"card{}\">\n<h2>{}</h2>\n{}{}</section>\n", wide ? " wide" : "", escaped(title),
                     paragraph, content);
}

std::string notes_card(std::string_view about, const std::vector<Note>& notes) {
  if (notes.empty()) return {};
  std::string list = "<ul class=\"findings\">\n";
  for (const auto& note : notes)
    list += fmt::format("<li class=\"{}\">{}</li>\n", note.warning ? "warning" : "note", escaped(note.text));
  return card("Notes", about, list + "</ul>\n", true);
}

std::string table(const std::vector<std::vector<std::string>>& rows, std::string_view alignment, std::size_t marked) {
  std::string html = "<div class=\"scroll\"><table>\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const char* cell = i == 0 ? "th" : "td";
    html += marked > 0 && i == marked ? "<tr class=\"marked\">" : "<tr>";
    for (std::size_t c = 0; c < rows[i].size(); ++c)
      html += fmt::format("<{0}{1}>{2}</{0}>", cell, alignment[c] == 'r' ? " class=\"r\"" : "", escaped(rows[i][c]));
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

std::string scrolled(std::string_view plot) { return fmt::format("<div class=\"scroll\">{}</div>\n", plot); }

std::string legend(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string html = "<div class=\"legend\">";
  for (const auto& [css, text] : entries)
    html += fmt::format("<span><i class=\"{}\"></i>{}</span>", css, escaped(text));
  return html + "</div>\n";
}

std::string page(std::string_view title, std::string_view subtitle, std::string_view body, std::string_view footer) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n"
      "<style>{1}</style>\n</head>\n<body>\n<main>\n<header>\n<h1>{0}</h1>\n<p>{2}</p>\n</header>\n{3}"
      "<footer>{4}</footer>\n</main>\n<script>{5}</script>\n</body>\n</html>\n",
      escaped(title), style, escaped(subtitle), body, escaped(footer), script);
}

}  // namespace sheaf::report
