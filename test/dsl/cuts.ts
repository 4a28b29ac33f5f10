/**
 * A text with pieces of it replaced, for tests that break a valid file.
 * Owns where a cut falls; what is put in is for the test to say.
 */
import fc from 'fast-check';

/** Any numbers do: a place beyond the end counts from the start again. */
export interface Cut {
  readonly at: number;
  readonly length: number;
  readonly piece: string;
}

/** What breaks YAML most often; each language adds its own. */
const YAML_PIECES = ['\t', '\n', ' ', '- ', ': ', '{', '}', '[', ']', '"', "'", '|'];

/** One to three cuts of up to `lengthMax` characters, with a piece of YAML, one of `pieces` or any text put in. */
export function cutsWith(pieces: readonly string[], lengthMax: number): fc.Arbitrary<readonly Cut[]> {
  const piece = fc.oneof(fc.constantFrom(...YAML_PIECES, ...pieces), fc.string({ maxLength: 4 }));
  return fc.array(fc.record({ at: fc.nat(), length: fc.nat(lengthMax), piece }), {
    minLength: 1,
    maxLength: 3,
  });
}

export function cut(text: string, cuts: readonly Cut[]): string {
  return cuts.reduce((current, { at, length, piece }) => {
    const start = at % (current.length + 1);
    return current.slice(0, start) + piece + current.slice(start + length);
  }, text);
}
