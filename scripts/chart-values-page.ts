/**
 * The page of the chart's values, from its schema and its defaults.
 * Owns the order and the form of the table; what a value means is said in the schema.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** From the root of the repository, as the pages are written. */
const CHART = 'chart';

/** Text of docs/chart-values.md. */
export function chartValuesPage(): string {
  const schema = JSON.parse(readFileSync(path.join(CHART, 'values.schema.json'), 'utf8')) as Schema & {
    readonly definitions: Readonly<Record<string, Schema>>;
  };
  const defaults: unknown = parse(readFileSync(path.join(CHART, 'values.yaml'), 'utf8'));
  const meant = ({ $ref, ...own }: Schema): Schema => {
    const known = $ref === undefined ? {} : schema.definitions[$ref.replace('#/definitions/', '')];
    return { ...known, ...own };
  };
  const rows = (at: string, value: unknown, found: Schema): readonly string[] => {
    const { properties, description = '' } = meant(found);
    const isBranch = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (properties === undefined || !isBranch || Object.keys(value).length === 0)
      return [`| \`${at}\` | ${shown(value)} | ${description} |`];
    return Object.entries(value).flatMap(([key, inner]) =>
      rows(at === '' ? key : `${at}.${key}`, inner, properties[key] ?? {}),
    );
  };
  return [
    '# Values of the chart',
    '',
    'Written by `npm run gen` from `chart/values.schema.json` and `chart/values.yaml`; a test compares them.',
    '[chart.md](chart.md) says what belongs together.',
    'Every other key is refused.',
    '',
    '| value | default | meaning |',
    '| --- | --- | --- |',
    ...rows('', defaults, schema),
    '',
  ].join('\n');
}

function shown(value: unknown): string {
  return value === '' ? 'none' : `\`${JSON.stringify(value).replaceAll('|', '\\|')}\``;
}
