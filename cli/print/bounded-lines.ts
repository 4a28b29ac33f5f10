/**
 * The beginning of a list that is long, and how many more there are.
 * Owns the words of that line.
 */

/** Lines as they are, at most `shownMax` of them; all are in the records of `--json`. */
export function boundedLines(lines: readonly string[], shownMax: number): readonly string[] {
  const more = lines.length - shownMax;
  return more > 0 ? [...lines.slice(0, shownMax), `  and ${more} more; see --json`] : lines;
}
