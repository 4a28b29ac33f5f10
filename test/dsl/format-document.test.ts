/**
 * Layout: comments and meaning stay, keys come in one order, and what is laid out once stays as it is.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { compileJob } from '../../dsl/compile-job.ts';
import { formatDocument } from '../../dsl/format-document.ts';
import { JOB_LANGUAGE } from '../../dsl/job-language.ts';
import { goldenText, validJobs } from './golden-files.ts';
import { GOLDEN_FOLDER, testWorld } from './test-world.ts';

function format(text: string): string | null {
  const formatted = formatDocument({ path: 'job.yaml', text }, JOB_LANGUAGE);
  return formatted.kind === 'formatted' ? formatted.text : null;
}

const hashOf = (text: string) => compileJob({ path: 'job.yaml', text }, testWorld).plan?.hash;

describe('format', () => {
  it.each(validJobs())('keeps the plan of %s, and changes nothing the second time', (file) => {
    const text = goldenText(file);
    const once = format(text);
    if (once === null) throw new Error('the file was refused');
    expect(hashOf(once)).toBe(hashOf(text));
    expect(format(once)).toBe(once);
  });

  it('puts keys in the order of the language, and leaves names of the user alone', () => {
    const text = `# yaml-language-server: $schema=job.v1.json
# what this is
conversations:
    -   prompt: Fix it. # behind
        # above the id
        id: a
        matrix: {z: [1], a: [2]}
        model: fast
version: 1

# the kind
kind: job
name: demo
`;
    expect(format(text)).toBe(`# yaml-language-server: $schema=job.v1.json
# the kind
kind: job
version: 1
name: demo
# what this is
conversations:
  - # above the id
    id: a
    prompt: Fix it. # behind
    model: fast
    matrix: { z: [ 1 ], a: [ 2 ] }
`);
  });

  it('keeps every comment, wherever it stands', () => {
    const texts = validJobs().map(goldenText);
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.array(fc.nat(), { maxLength: 4 }), (text, places) => {
        const lines = text.split('\n');
        const marks = places.map((place, at) => {
          const line = place % lines.length;
          const indent = /^ */.exec(lines[line] ?? '')?.[0] ?? '';
          lines[line] = `${indent}# mark ${at}\n${lines[line] ?? ''}`;
          return `# mark ${at}`;
        });
        const before = lines.join('\n');
        const after = format(before);
        if (after === null || hashOf(before) !== hashOf(text)) return;
        for (const mark of marks) expect(after).toContain(mark);
        expect(hashOf(after)).toBe(hashOf(before));
        expect(format(after)).toBe(after);
      }),
      { seed: 20261122, numRuns: 150 },
    );
  });

  it('never throws for a broken file, and never changes what one says', () => {
    const folder = path.join(GOLDEN_FOLDER, 'err');
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.yaml'))) {
      const bytes = readFileSync(path.join(folder, file));
      const formatted = formatDocument({ path: file, text: bytes }, JOB_LANGUAGE);
      if (formatted.kind !== 'formatted') continue;
      const codes = (text: string | Uint8Array) =>
        compileJob({ path: file, text }, testWorld)
          .diagnostics.map(({ code }) => code)
          .sort();
      expect(codes(formatted.text), file).toEqual(codes(bytes));
    }
  });
});
