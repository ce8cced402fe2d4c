// Which results of the site's search come first: what users read before what developers read, and pages that have the question's words in their title.
// Sphinx alone gives a page the points of its best word.
var Scorer = {
  score: ([page, title, , , points]) => {
    const background = /^(docs\/decisions|src|cli|python|r|tests|bench|packaging|include|web|cmake|scripts|examples|CHANGELOG|CONTRIBUTING|folders)\b/;
    const reader = background.test(page) ? -10 : /^docs\/questions$/.test(page) ? 8 : /^docs\/[a-z-]+$/.test(page) ? 6 : 0;
    const stemmer = new Stemmer();
    const stems = text => splitQuery(text.toLowerCase()).map(word => stemmer.stemWord(word));
    const asked = stems(new URLSearchParams(location.search).get("q") ?? "").filter(word => !stopwords.includes(word));
    const named = new Set(stems(title));
    return points + reader + (10 * asked.filter(word => named.has(word)).length) / Math.max(asked.length, 1);
  },
  objNameMatch: 11, objPartialMatch: 6, objPrio: {0: 15, 1: 5, 2: -5}, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
