/**
 * Plays the seeds of one detector in a process of its own, which may die or never end.
 * Owns the reading of what it says; what is played is in scripts/mutant-seeds.js.
 */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { ROOT } from './setup.js';

/** A seed that plays longer than this never ends: that is a finding, too. */
const SILENCE_MS = 60_000;

/** One process; resolves with what it found: `{ findings, diedAt }`, the seed null when it came to its end. */
export function play(args, plan) {
  const script = path.join(ROOT, 'scripts', 'mutant-seeds.js');
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [script, ...args, JSON.stringify(plan)], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const seen = { seed: plan.from, text: '', errors: '', findings: [], ended: false };
    let watchdog = null;
    const listen = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => child.kill('SIGKILL'), SILENCE_MS);
    };
    listen();
    child.stderr.on('data', (data) => (seen.errors = (seen.errors + data).slice(-2_000)));
    child.stdout.on('data', (data) => {
      listen();
      readLines(seen, data);
    });
    child.on('close', (code, signal) => {
      clearTimeout(watchdog);
      const { findings, ended, seed } = seen;
      if (ended) return resolve({ findings, diedAt: null });
      resolve({
        findings: [...findings, { seed, finding: diedOf(code, signal, seen.errors) }],
        diedAt: seed,
      });
    });
  });
}

function readLines(seen, data) {
  const lines = (seen.text + data).split('\n');
  seen.text = lines.pop() ?? '';
  for (const line of lines) {
    const { begins, ended, ...found } = JSON.parse(line);
    if (ended === true) seen.ended = true;
    else if (begins === undefined) seen.findings.push(found);
    else seen.seed = begins;
  }
}

function diedOf(code, signal, errors) {
  if (signal === 'SIGKILL') return { name: 'never ends', problem: `a seed plays for ${SILENCE_MS} ms` };
  return { name: 'died', problem: `exit code ${code}: ${errors.trim().split('\n').at(-1) ?? ''}` };
}
