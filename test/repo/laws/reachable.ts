/**
 * Every TypeScript file is part of something that runs: a program, a test, a bench or a script.
 */
import { importGraph } from '../syntax.ts';
import { isCode, type Tree, type Violation } from '../tree.ts';

/** Files that are run and not imported. */
const ENTRIES: readonly RegExp[] = [
  /^(cli|scripted-gateway|agent)\/main\.ts$/,
  /^agent\/openhands\/main\.ts$/,
  /^web\/main\.tsx$/,
  /^runtimes\/process\/inside\/(init|write-compiled)\.ts$/,
  // A thread that reads a long export.
  /^clients\/gateway\/export-reader\.ts$/,
  // A thread that plays a job for a page.
  /^cli\/simulate\/plan-player\.ts$/,
  /^runtimes\/kubernetes\/reader\/main\.ts$/,
  /^(bench|scripts)\/[^/]+\.ts$/,
  // Bundled by the bench into the sandboxes that it starts.
  /^bench\/chaos\/inside\/(hostile|lying-agent)\.ts$/,
  /^(test|examples)\/.*\.test\.ts$/,
  /^testing\/(index|vitest)\.ts$/,
  // Temporal's bundler takes these by their path.
  /^workflows\/index\.ts$/,
  /^testing\/temporal\/(main|observed\/(observed-workflows|observer-interceptors))\.ts$/,
  /^test\/helpers\/(global-setup|property-seed)\.ts$/,
  /^[^/]+\.config\.ts$/,
];

export function reachable(tree: Tree): readonly Violation[] {
  const files = tree.filter((file) => isCode(file.path));
  const graph = importGraph(tree, files);
  const queue = files.map((file) => file.path).filter((name) => ENTRIES.some((entry) => entry.test(name)));
  const reached = new Set(queue);
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    for (const next of graph.get(name) ?? []) {
      if (reached.has(next)) continue;
      reached.add(next);
      queue.push(next);
    }
  }
  return files
    .filter((file) => /\.tsx?$/.test(file.path) && !reached.has(file.path))
    .map((file) => `${file.path}: nothing imports it; use it, test it or remove it`);
}
