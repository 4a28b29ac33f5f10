/**
 * Plays seeds in a process of its own: `node scripts/mutant-seeds.js MODULE DETECTOR PLAN`.
 * PLAN is JSON: `{ from, to, step, skip, goOn }`. Prints one JSON line when a seed begins, one for every finding, a
 * thrown error included, and one at the end; stops at the first finding unless it is to go on.
 * Must not know which bug is in the module.
 */
import { pathToFileURL } from 'node:url';

const [module, detector, plan] = process.argv.slice(2);
const { DETECTORS } = await import(pathToFileURL(module).href);
const { from, to, step, skip, goOn } = JSON.parse(plan);
const skipped = new Set(skip);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

async function look(seed) {
  try {
    return await DETECTORS[detector](seed);
  } catch (error) {
    return { name: 'thrown', problem: error instanceof Error ? error.message : String(error) };
  }
}

let isOver = false;
for (let seed = from; seed <= to && !isOver; seed += step) {
  if (skipped.has(seed)) continue;
  say({ begins: seed });
  const finding = await look(seed);
  if (finding !== null) say({ seed, finding });
  isOver = finding !== null && !goOn;
}
say({ ended: true });
