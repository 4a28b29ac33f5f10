/**
 * The world the compiler sees in tests: prompt files below test/golden/dsl, real SHA-256, two models.
 * Owns fixtures only; must not assert.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

import type { IssueRow } from '../../core/plan/plan-issue.ts';
import type { FileRead, JobWorld } from '../../dsl/world.ts';

export const GOLDEN_FOLDER = path.join(import.meta.dirname, '../golden/dsl');

export const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

export const testWorld: JobWorld = {
  sha256,
  inputs: { typed: {}, values: {} },
  models: ['strong', 'fast', 'openai/gpt-5'],
  hasPrice: (model) => model !== 'openai/gpt-5',
  readFile(relativePath): FileRead {
    if (relativePath.endsWith('big.md')) return { problem: 'too_large' };
    if (relativePath.endsWith('.png')) return { problem: 'binary' };
    const file = path.join(GOLDEN_FOLDER, relativePath);
    if (!existsSync(file)) return { problem: 'missing' };
    return statSync(file).isDirectory() ? { problem: 'directory' } : { text: readFileSync(file, 'utf8') };
  },
  /** In pieces of a few characters, so that no reader relies on where one ends. */
  readRows(relativePath) {
    const file = path.join(GOLDEN_FOLDER, relativePath);
    if (!existsSync(file)) return { problem: 'missing' };
    if (statSync(file).isDirectory()) return { problem: 'directory' };
    return { chunks: readFileSync(file, 'utf8').match(/[^]{1,7}/g) ?? [] };
  },
  /** As a code host would choose; no user may see the repository `acme/locked`. */
  readIssues({ repository, host, labels, state, limit }) {
    if (repository === 'acme/locked')
      return {
        problem: `Cannot read issues of "acme/locked" at ${host}: no (404)`,
        remedy: 'name a credential',
      };
    const all = JSON.parse(readFileSync(path.join(GOLDEN_FOLDER, 'data/issues.json'), 'utf8')) as IssueRow[];
    const rows = all.filter((row) => state === 'all' || row.state === state);
    const chosen = rows.filter((row) => labels.every((label) => row.labels.includes(label))).slice(0, limit);
    return { rows: chosen, doneCount: 0 };
  },
  listFolder(relativePath) {
    const folder = path.join(GOLDEN_FOLDER, relativePath);
    if (!existsSync(folder)) return { problem: 'missing' };
    const entries = readdirSync(folder, { withFileTypes: true }).map((entry) => ({
      name: entry.name,
      kind: entry.isDirectory() ? ('folder' as const) : ('file' as const),
      isLink: false,
    }));
    return { entries };
  },
};

/** A job that compiles, with `more` after it. */
export function jobText(more = ''): string {
  return `kind: job\nversion: 1\nname: demo\ndefaults: {model: fast}\nconversations:\n  - id: a\n    prompt: Fix it.\n${more}`;
}
