/**
 * A copy of the example that shares nothing with any other: its own folder, data, results, sockets and programs.
 * Owns the layout and the end of everything that runs in it; must not run anything.
 */
import { cpSync, linkSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { removeDir } from '../helpers/temp-dir.ts';
import { processesOf } from './process-list.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** An example that has a program, a job and a deployment. */
export type ExampleName = 'first-batch' | 'three-hundred' | 'upgrade-200';

/** As the deployment spells it. */
export type Isolation = 'namespaces' | 'none';

export interface BatchCopy {
  /** Everything the batch leaves anywhere is below it. */
  readonly root: string;
  readonly example: string;
  readonly dataDir: string;
  readonly resultsDir: string;
  /** The whole environment of its programs. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends what still runs, by process id, and removes the folder. */
  close(): void;
}

/** The secret of the job: its forms differ in every encoding. */
export const TOKEN = 'planted/Secret+value=42&more?~of%it';

export function copyBatch(isolation: Isolation, name: ExampleName = 'first-batch'): BatchCopy {
  const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'parley-e2e-')));
  const example = path.join(root, 'examples', name);
  const source = path.join(ROOT, 'examples', name);
  const own = (file: string): boolean => !['.parley', 'out'].includes(path.relative(source, file));
  cpSync(source, example, { recursive: true, filter: own });
  // The other examples end their gateway with the keeper of the first.
  const keeper = path.join('examples', 'first-batch', 'gateway-keeper.js');
  cpSync(path.join(ROOT, keeper), path.join(root, keeper));
  // A program finds what belongs to it from its own real path, so these two are no links.
  cpSync(path.join(ROOT, 'bin'), path.join(root, 'bin'), { recursive: true });
  copyPrograms(path.join(root, 'dist'));
  symlinkSync(path.join(ROOT, 'package.json'), path.join(root, 'package.json'));
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(root, 'node_modules'));
  const temp = path.join(root, 't');
  mkdirSync(temp);
  return {
    root,
    example,
    dataDir: path.join(example, '.parley'),
    resultsDir: path.join(example, 'out'),
    env: {
      PATH: process.env['PATH'] ?? '',
      TMPDIR: temp,
      PARLEY_ISOLATION: isolation,
      PARLEY_EXAMPLE_TOKEN: TOKEN,
    },
    close() {
      for (const { pid } of processesOf(root)) end(pid);
      removeDir(root);
    },
  };
}

/** Hard links where the system allows them: a build that replaces a program leaves these as they are. */
function copyPrograms(target: string): void {
  mkdirSync(target);
  const source = path.join(ROOT, 'dist');
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    // A stamp stands beside the bundle of workflows.
    if (!entry.isFile() || !/\.(c?js|json)$/.test(entry.name)) continue;
    const [from, to] = [path.join(source, entry.name), path.join(target, entry.name)];
    try {
      linkSync(from, to);
    } catch {
      cpSync(from, to);
    }
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
