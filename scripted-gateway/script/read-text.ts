// A text of a script as its author wrote it, to a text with gaps; what is no gap is reported.
// It must not read files: their text is literal.

import type { Report } from './build-context.ts';
import { braceMark, gapMark, readGaps } from './gap-text.ts';
import type { GapText } from './gap-text.ts';
import type { ValuePath } from './yaml-source.ts';

/** Reads a text that stands at `path`; reports every `{{` that is neither a gap nor doubled. */
export function readText(written: string, path: ValuePath, report: Report): GapText {
  const { text, unknown } = readGaps(written);
  for (const mark of unknown) {
    report(path, `unknown placeholder "${mark}": expected "${gapMark}", or "${braceMark}" for two braces`);
  }
  return text;
}
