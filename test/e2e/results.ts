/**
 * What a run left in its folder: patches, trajectories, and the sums of its reports.
 * Owns the reading of these files; must not judge them.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { BatchCopy } from './batch-copy.ts';
import { readZip } from './zip-file.ts';

/** Conversation → its repository. */
export const REPOSITORIES = {
  'replace-substr': 'npm/yaml',
  'esm-entry': 'npm/ms',
  'choice-suggestions': 'npm/commander',
} as const;

export type Key = keyof typeof REPOSITORIES;

export const KEYS = Object.keys(REPOSITORIES) as readonly Key[];

export interface TrajectoryEvent {
  readonly sequence: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Sums {
  readonly total: bigint;
  readonly assigned: bigint;
  readonly ambiguous: bigint;
  readonly unassigned: bigint;
}

const GIT_ENVIRONMENT = {
  PATH: process.env['PATH'] ?? '',
  GIT_CONFIG_GLOBAL: os.devNull,
  GIT_CONFIG_NOSYSTEM: '1',
};

export class Results {
  readonly #folder: string;
  readonly #copy: BatchCopy;

  constructor(copy: BatchCopy, runId: string) {
    this.#folder = path.join(copy.resultsDir, runId);
    this.#copy = copy;
  }

  text(...names: readonly string[]): string {
    return readFileSync(path.join(this.#folder, ...names), 'utf8');
  }

  patch(key: Key): string {
    return this.text(key, 'changes.patch');
  }

  /** Clones the repository, goes to the base commit, and lets Git judge the patch. Throws what Git says. */
  checkPatch(key: Key, folder: string): void {
    const git = (...args: readonly string[]): string =>
      execFileSync('git', args, { cwd: folder, env: GIT_ENVIRONMENT, encoding: 'utf8', stdio: 'pipe' });
    const clone = path.join(folder, key);
    git('clone', '--quiet', path.join(this.#copy.dataDir, 'repos', `${REPOSITORIES[key]}.git`), clone);
    git('-C', clone, 'checkout', '--quiet', this.text(key, 'base-commit.txt').trim());
    git('-C', clone, 'apply', '--check', path.join(this.#folder, key, 'changes.patch'));
  }

  /** Events in the order of the archive. */
  async events(key: Key): Promise<readonly TrajectoryEvent[]> {
    const entries = await readZip(readFileSync(path.join(this.#folder, key, 'trajectory.zip')));
    return entries.flatMap(({ name, content }) => {
      const [, sequence] = /^event_(\d{6})_/.exec(name) ?? [];
      if (sequence === undefined) return [];
      return [
        { sequence: Number(sequence), body: JSON.parse(content.toString()) as TrajectoryEvent['body'] },
      ];
    });
  }

  /** What the report for people says, in nano-USD; both files must say the same. */
  sums(): Sums {
    const markdown = sumsOf(this.text('report.md'));
    const html = sumsOf(this.text('report.html').replaceAll(/<[^>]*>/g, '|'));
    if (String(Object.values(markdown)) === String(Object.values(html))) return markdown;
    throw new Error(`the reports differ: ${Object.values(markdown)} and ${Object.values(html)}`);
  }
}

/** Of the footnote, whose amounts are exact. */
function sumsOf(text: string): Sums {
  const footnote = text.split('To the nano-dollar').at(-1) ?? '';
  const amount = (label: string): bigint => {
    const [, digits] = /^[^|]*\|[|\s]*(-?[\d,]+)/.exec(footnote.split(label, 2)[1] ?? '') ?? [];
    if (digits === undefined) throw new Error(`the report has no amount after "${label}"`);
    return BigInt(digits.replaceAll(',', ''));
  };
  return {
    total: amount('= total of'),
    assigned: amount('+ assigned to conversations'),
    ambiguous: amount('+ ambiguous: several conversations could have caused it'),
    unassigned: amount('+ unassigned: no conversation of this run'),
  };
}
