/**
 * `node scripts/listed-seeds.js PLAY`: plays the lines of test/seeds.json for a play that is a program of its own.
 * Owns how a line becomes a command; plays that are tests read the list themselves (test/helpers/seeds.ts).
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { runNode } from './child.js';
import { ROOT } from './setup.js';

const COMMANDS = {
  campaign: ({ seed, count }) => ['scripts/campaign.js', '--from', String(seed), '--runs', String(count)],
  'chaos-process': ({ seed, count }) => chaos('--seed', seed, '--faults', count, '--runtime', 'process'),
  'chaos-docker': ({ seed, count }) => chaos('--seed', seed, '--faults', count, '--runtime', 'docker'),
  'chaos-hostile': ({ seed, count }) => chaos('--hostile', '--seed', seed, '--faults', count),
};

function chaos(...args) {
  return ['scripts/run-built.js', 'bench/chaos.ts', ...args.map(String)];
}

const play = process.argv[2] ?? '';
const lines = JSON.parse(readFileSync(path.join(ROOT, 'test/seeds.json'), 'utf8'));
const listed = lines.filter((line) => line.play === play);
if (COMMANDS[play] === undefined || listed.length === 0) {
  process.stderr.write(`usage: node scripts/listed-seeds.js ${Object.keys(COMMANDS).join('|')}\n`);
  process.exitCode = 2;
}
for (const line of COMMANDS[play] === undefined ? [] : listed) {
  const code = await runNode(COMMANDS[play](line));
  if (code === 0) continue;
  process.stderr.write(`${play}, seed ${line.seed} broke: node ${COMMANDS[play](line).join(' ')}\n`);
  process.exitCode = code;
}
