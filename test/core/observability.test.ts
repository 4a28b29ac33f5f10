/** What a start request may say about its trace: shapes, bounds, and a finding for each way to be wrong. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  OBSERVABILITY_ARRAY_MAX,
  OBSERVABILITY_KEY_CODE_POINTS_MAX,
  OBSERVABILITY_METADATA_MAX,
  OBSERVABILITY_NAME_CODE_POINTS_MAX,
  OBSERVABILITY_TAGS_MAX,
  OBSERVABILITY_TEXT_CODE_POINTS_MAX,
} from '../../core/limits.ts';
import { readObservability } from '../../core/observability.ts';

/** A character outside the plane that one unit of text can name: it counts once. */
const WIDE = '\u{1f99c}';

const problemsOf = (fields: Parameters<typeof readObservability>[0]): readonly string[] => {
  const read = readObservability(fields);
  return read.kind === 'read' ? [] : read.problems.map(({ field, message }) => `${field} ${message}`);
};

describe('the observability fields of a start request', () => {
  it('are nothing when none is given', () => {
    const nulls = {
      observability_span_name: null,
      observability_tags: null,
      observability_metadata: null,
    };
    for (const fields of [{}, nulls])
      expect(readObservability(fields)).toEqual({ kind: 'read', observability: null });
  });

  it('are read with integers and fractions mixed in one list', () => {
    const observability_metadata = { n: [1, 2.5], b: [true, false], s: ['a'], none: [], one: 1, t: 'x' };
    expect(readObservability({ observability_span_name: 'nightly', observability_metadata })).toEqual({
      kind: 'read',
      observability: { spanName: 'nightly', tags: [], metadata: observability_metadata },
    });
  });

  it('may be as long as their bounds, in code points', () => {
    const text = WIDE.repeat(OBSERVABILITY_TEXT_CODE_POINTS_MAX);
    const keys = Array.from({ length: OBSERVABILITY_METADATA_MAX }, (_, at) => [
      `${at}`.padEnd(OBSERVABILITY_KEY_CODE_POINTS_MAX, 'k'),
      Array.from({ length: OBSERVABILITY_ARRAY_MAX }, () => text),
    ]);
    const fields = {
      observability_span_name: WIDE.repeat(OBSERVABILITY_NAME_CODE_POINTS_MAX),
      observability_tags: Array.from({ length: OBSERVABILITY_TAGS_MAX }, () => text),
      observability_metadata: Object.fromEntries(keys) as object,
    };
    expect(problemsOf(fields)).toEqual([]);
  });

  it.each<[Parameters<typeof readObservability>[0], string]>([
    [{ observability_span_name: 7 }, 'observability_span_name is no text'],
    [{ observability_span_name: ' ' }, 'observability_span_name is empty'],
    [
      { observability_span_name: 'x'.repeat(OBSERVABILITY_NAME_CODE_POINTS_MAX + 1) },
      'observability_span_name has more than 128 characters',
    ],
    [{ observability_tags: 'a' }, 'observability_tags is no list'],
    [{ observability_tags: ['a', 1] }, 'observability_tags[1] is no text'],
    [
      { observability_tags: ['x'.repeat(OBSERVABILITY_TEXT_CODE_POINTS_MAX + 1)] },
      'observability_tags[0] has more than 256 characters',
    ],
    [
      { observability_tags: Array.from({ length: OBSERVABILITY_TAGS_MAX + 1 }, () => 'a') },
      'observability_tags has more than 50 tags',
    ],
    [{ observability_metadata: ['a'] }, 'observability_metadata is no object'],
    [{ observability_metadata: { '': 1 } }, 'observability_metadata has an empty key'],
    [
      { observability_metadata: { ['k'.repeat(OBSERVABILITY_KEY_CODE_POINTS_MAX + 1)]: 1 } },
      'observability_metadata has a key of more than 128 characters',
    ],
    [
      { observability_metadata: Object.fromEntries(Array.from({ length: 51 }, (_, at) => [at, 1])) },
      'observability_metadata has more than 50 keys',
    ],
    [
      { observability_metadata: { a: null } },
      'observability_metadata.a is no text, number, truth value or list of these',
    ],
    [
      { observability_metadata: { a: { b: 1 } } },
      'observability_metadata.a is no text, number, truth value or list of these',
    ],
    [
      { observability_metadata: { a: [[1]] } },
      'observability_metadata.a[0] is no text, number, truth value or list of these',
    ],
    [{ observability_metadata: { a: NaN } }, 'observability_metadata.a is no finite number'],
    [{ observability_metadata: { a: [1, Infinity] } }, 'observability_metadata.a[1] is no finite number'],
    [
      { observability_metadata: { a: [1, 'b'] } },
      'observability_metadata.a mixes kinds of values: a list holds texts, numbers or truth values alone',
    ],
    [
      { observability_metadata: { a: Array.from({ length: OBSERVABILITY_ARRAY_MAX + 1 }, () => 1) } },
      'observability_metadata.a has more than 50 items',
    ],
  ])('are refused: %j', (fields, problem) => {
    expect(problemsOf(fields)).toEqual([problem]);
  });

  it('are all looked at before they are refused', () => {
    const fields = { observability_span_name: '', observability_tags: 1, observability_metadata: 1 };
    expect(problemsOf(fields).length).toBe(3);
  });

  it('of any shape are read as they are, or refused without a value of theirs', () => {
    const secret = 'planted-value';
    const anything = fc.oneof(fc.anything(), fc.constant(secret), fc.array(fc.constant(secret)));
    fc.assert(
      fc.property(anything, anything, anything, (name, tags, metadata) => {
        const fields = {
          observability_span_name: name,
          observability_tags: tags,
          observability_metadata: metadata,
        };
        const read = readObservability(fields);
        if (read.kind === 'refused') {
          expect(read.problems.length).toBeGreaterThan(0);
          for (const { message } of read.problems) expect(message).not.toContain(secret);
        } else if (read.observability !== null) {
          expect(read.observability.spanName ?? null).toBe(name ?? null);
          expect(JSON.parse(JSON.stringify(read.observability.tags))).toEqual(tags ?? []);
        }
      }),
    );
  });
});
