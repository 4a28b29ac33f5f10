/**
 * Layout: comments and meaning stay, keys come in one order, and what is laid out once stays as it is.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDocument, visit } from 'yaml';

import { compileJob } from '../../dsl/compile-job.ts';
import { formatDocument } from '../../dsl/read/format-document.ts';
import { JOB_LANGUAGE } from '../../dsl/job-language.ts';
import { goldenText, validJobs } from './golden-files.ts';
import { GOLDEN_FOLDER, testWorld } from './test-world.ts';

function format(text: string): string | null {
  const formatted = formatDocument({ path: 'job.yaml', text }, JOB_LANGUAGE);
  return formatted.kind === 'formatted' ? formatted.text : null;
}

const hashOf = (text: string) => compileJob({ path: 'job.yaml', text }, testWorld).plan?.hash;

/** The same job with its keys in another order, and some of its maps in brackets. */
function shuffled(
  text: string,
  { order, indent }: { readonly order: readonly number[]; readonly indent: number },
): string {
  const document = parseDocument(text, { merge: false, uniqueKeys: false, logLevel: 'silent' });
  let at = 0;
  const next = (): number => order[at++ % order.length] ?? 0;
  visit(document, {
    Map(_, map) {
      const ranks = new Map(map.items.map((pair) => [pair, next()]));
      map.items.sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
      if (next() % 10 === 0) map.flow = map.flow !== true;
    },
  });
  return document.toString({ lineWidth: 0, indent, indentSeq: next() % 2 === 0 });
}

interface Edit {
  readonly line: number;
  readonly kind: 'own' | 'left' | 'any' | 'behind' | 'blank';
  readonly indent: number;
}

function withComments(text: string, edits: readonly Edit[]): string {
  const lines = text.split('\n');
  edits.forEach(({ line, kind, indent }, mark) => {
    const at = line % lines.length;
    const old = lines[at] ?? '';
    const own = /^[ -]*/.exec(old)?.[0].length ?? 0;
    const column = { own, left: 0, any: indent, behind: 0, blank: 0 }[kind];
    if (kind === 'behind') lines[at] = `${old} # mark ${mark}`;
    else if (kind === 'blank') lines[at] = `\n${old}`;
    else lines[at] = `${' '.repeat(column)}# mark ${mark}\n${old}`;
  });
  return lines.join('\n');
}

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
        if (hashOf(before) !== hashOf(text)) return;
        if (after === null) throw new Error('the file was refused');
        for (const mark of marks) expect(after).toContain(mark);
        expect(hashOf(after)).toBe(hashOf(before));
        expect(format(after)).toBe(after);
      }),
      { seed: 20261122, numRuns: 150 },
    );
  });

  it('puts each comment to what it speaks of', () => {
    const text = `# the terms

# about conversations
conversations: # the work
- # the first
  prompt: Fix it.
  # above the id
  id: a
  limits: # at most
    usd: 2
    # nothing else
  # no more of a
- prompt: Fix that.
  id: b
  matrix: {
    x: [p, # as before
      q],
    # no other
    } # closed

# ---- where ----

# about placement
placement: newest
defaults:
  model: fast
  # last of the defaults
# about the version
version: 1 # the only one
name:
  # in between
  demo
kind: job
# the end
`;
    expect(format(text)).toBe(`# the terms

kind: job
# about the version
version: 1 # the only one
# in between
name: demo
defaults:
  model: fast
  # last of the defaults
# about conversations
conversations: # the work
  - # the first
    # above the id
    id: a
    prompt: Fix it.
    limits: # at most
      usd: 2
      # nothing else
    # no more of a
  - id: b
    prompt: Fix that.
    # closed
    matrix:
      x:
        - p # as before
        - q
      # no other

# ---- where ----

# about placement
placement: newest
# the end
`);
  });

  it('keeps the order of keys where an alias would come before its anchor', () => {
    const text = `defaults: &all\n  model: fast\nname: demo\nkind: *all\n`;
    expect(format(text)).toBe(text);
  });

  it('keeps directives, and the mark behind them', () => {
    const text = `%FOO bar\n---\n# above\nversion: 1\nkind: job\n`;
    expect(format(text)).toBe(`%FOO bar\n---\nkind: job\n# above\nversion: 1\n`);
  });

  it('changes nothing the second time, and loses no comment, however keys were shuffled', () => {
    // What is shuffled may not have an alias before its anchor.
    const texts = validJobs()
      .map(goldenText)
      .filter((text) => !/\s\*\w/.test(text));
    const edit = fc.record({
      line: fc.nat(),
      kind: fc.constantFrom('own', 'left', 'any', 'behind', 'blank'),
      indent: fc.nat(9),
    });
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.array(fc.nat(), { minLength: 40, maxLength: 40 }),
        fc.array(edit, { maxLength: 6 }),
        fc.constantFrom(2, 4),
        (text, order, edits, indent) => {
          const before = withComments(shuffled(text, { order, indent }), edits);
          const formatted = formatDocument({ path: 'job.yaml', text: before }, JOB_LANGUAGE);
          // A comment behind an open quote or inside a text in quotes may break the file.
          if (formatted.kind === 'broken') return;
          if (formatted.kind === 'refused') throw new Error(`refused:\n${before}`);
          for (const [mark] of before.matchAll(/# mark \d+/g)) expect(formatted.text).toContain(mark);
          expect(hashOf(formatted.text)).toBe(hashOf(before));
          expect(format(formatted.text)).toBe(formatted.text);
        },
      ),
      { seed: 20261125, numRuns: 200 },
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
