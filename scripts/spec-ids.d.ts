/** Types of spec-ids.js, for the law and its tests. */

/** Every id in the order of the page. */
export function idsOfSpec(text: string): readonly string[];

/** The ids that a title carries. */
export function idsOfTitle(title: string): readonly string[];

/** One sentence for each id that no test of a whole run shows to hold. */
export function unshownIds(input: {
  readonly specText: string;
  /** Vitest's JSON report. */
  readonly reportText: string;
  readonly strict: boolean;
}): readonly string[];
