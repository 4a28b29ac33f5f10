/**
 * The ids of docs/spec.md against the titles of tests: a row or rule of the specification holds because a test says so.
 * Pure: texts in, sentences out; scripts/test.js asks after a whole run, and a law of test/repo/ asks of the files.
 */

/** An id stands in brackets at the start of a row's first cell, of an item or of a sentence. */
const SPEC_ID = /^(?:\| |\d+\. |- )?\[([A-Z]\d+)\] /gm;
/** The ids of a title come first, parted by commas, and end in a colon. */
const TITLE_IDS = /^([A-Z]\d+(?:, [A-Z]\d+)*): /;
/** What the specification numbers: C for conversations and sandboxes, G for the gateway. D is of decisions. */
const LETTERS = ['C', 'G'];

/** Every id in the order of the page. @type {(text: string) => readonly string[]} */
export function idsOfSpec(text) {
  return [...text.matchAll(SPEC_ID)].map(([, id]) => id);
}

/**
 * The ids that a title carries; those of other letters are none of the specification's.
 * @type {(title: string) => readonly string[]}
 */
export function idsOfTitle(title) {
  const [, ids = ''] = TITLE_IDS.exec(title) ?? [];
  return ids.split(', ').filter((id) => LETTERS.includes(id[0]));
}

/**
 * Sentences about ids that no test of a whole run shows to hold. An id whose every test was left out because a tool is
 * missing counts only with `strict`: that it did not run is said elsewhere.
 * @type {(input: { readonly specText: string, readonly reportText: string, readonly strict: boolean }) => readonly string[]}
 */
export function unshownIds({ specText, reportText, strict }) {
  const passed = new Set();
  const skipped = new Set();
  for (const file of JSON.parse(reportText).testResults) {
    for (const { title, status } of file.assertionResults) {
      if (status === 'failed') continue;
      for (const id of idsOfTitle(title)) (status === 'passed' ? passed : skipped).add(id);
    }
  }
  return idsOfSpec(specText)
    .filter((id) => !passed.has(id) && (strict || !skipped.has(id)))
    .map((id) => `docs/spec.md: no test that passed has the id ${id} in its title`);
}
