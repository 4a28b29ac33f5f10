/**
 * A run whose agents leave behind what is hard to remove: it ends, and nothing stays in `cleaning`.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openUpgradeBatch, recordsIn, type UpgradeBatch } from './upgrade-batch.ts';
import type { ProgramEnd } from './running-program.ts';
import { readZip } from './zip-file.ts';

const ALL_MS_MAX = 600_000;
const DEPTH = 60;
/** Relative steps, so that no path that is said is too long; the last folders are closed to their owner. */
const NEST = `n=$(printf "d%.0s" $(seq 200)); for i in $(seq ${DEPTH}); do mkdir $n && cd -P $n || exit 1; done; echo x > leaf; chmod 000 leaf; chmod 500 .; pwd -P | wc -c`;
const SCRIPT = `scripts:
  - name: nested
    when: { contains: 'Go down' }
    turns:
      - tool: terminal
        arguments: { command: ${JSON.stringify(`bash -c '${NEST}'`)} }
        usage: { prompt: 100, completion: 10 }
      - tool: finish
        arguments: { message: done }
        usage: { prompt: 100, completion: 10 }
`;
const JOB = `kind: job
version: 1
name: nested
defaults: { model: fast }
conversations:
  - { id: repo, prompt: Go down, repo: acme/plain }
  - { id: none, prompt: Go down }
collect: [trajectory, diff]
`;

describe('a run whose agents nest folders beyond the longest path', () => {
  let batch: UpgradeBatch;
  let done: ProgramEnd;
  beforeAll(async () => {
    batch = await openUpgradeBatch({ repositories: 1, edits: [['gateway.yaml', 'scripts:\n', SCRIPT]] });
    const [name = ''] = readdirSync(path.join(batch.copy.dataDir, 'repos/acme'));
    writeFileSync(
      path.join(batch.copy.example, 'nested.yaml'),
      JOB.replace('acme/plain', `acme/${name.replace(/\.git$/, '')}`),
    );
    done = await batch.run(['run', 'nested.yaml', '--json', '--run-id', 'n']);
  }, ALL_MS_MAX);
  afterAll(() => batch.close());

  it('ends well, each item with what its agent did', async () => {
    expect(done.code, done.stderr).toBe(0);
    const items = recordsIn(done.stdout).filter(({ type }) => type === 'item');
    expect(items.map(({ outcome }) => outcome)).not.toContain('failed');
    for (const key of ['repo', 'none']) {
      const entries = await readZip(
        readFileSync(path.join(batch.copy.resultsDir, 'n', key, 'trajectory.zip')),
      );
      const said = entries.map(({ content }) => content.toString('utf8')).join('');
      // The longest path that the system takes has 4,096 bytes.
      expect(Number(/"text": ?"(1\d{4})"/.exec(said)?.[1])).toBeGreaterThan(12_000);
    }
  });

  it('is over, and keeps no sandbox in cleaning', async () => {
    const { stdout } = await batch.run(['status', 'n', '--json']);
    const [run] = [...stdout.split('\n')].filter((line) => line.includes('"type":"run"'));
    expect(JSON.parse(run ?? '{}')).toMatchObject({ phase: 'finished' });
    const sandboxes = path.join(batch.copy.dataDir, 'sandboxes');
    expect(existsSync(sandboxes) ? readdirSync(sandboxes) : []).toEqual([]);
  });
});
