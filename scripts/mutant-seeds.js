/**
 * Plays seeds in a process of its own: `node scripts/mutant-seeds.js MODULE DETECTOR SEEDS`.
 * Prints one JSON line when a seed begins and one at the end; stops at the first finding, a thrown error included.
 * Must not know which bug is in the module.
 */
import { pathToFileURL } from 'node:url';

const [module, detector, seeds] = process.argv.slice(2);
const { DETECTORS } = await import(pathToFileURL(module).href);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

async function look(seed) {
  try {
    return await DETECTORS[detector](seed);
  } catch (error) {
    return { name: 'thrown', problem: error instanceof Error ? error.message : String(error) };
  }
}

let found = { seed: null, finding: null };
for (let seed = 1; seed <= Number(seeds) && found.seed === null; seed += 1) {
  say({ begins: seed });
  const finding = await look(seed);
  if (finding !== null) found = { seed, finding };
}
say(found);
