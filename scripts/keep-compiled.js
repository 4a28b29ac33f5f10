/**
 * Keeps the Agent Server's compiled code beside it, so that a sandbox is ready sooner; for the Node.js that builds.
 * Owns running the one boot that compiles it; the form of the file is runtimes/process/inside/compiled-code.ts.
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { bundle } from './bundle.js';

const WRITER = 'runtimes/process/inside/write-compiled.ts';

/** `agent`: path of the built Agent Server. Throws when it does not boot, with what it said on standard error. */
export async function keepCompiled(agent) {
  const writer = path.join(path.dirname(agent), '.write-compiled.cjs');
  await bundle({ entryPoints: [WRITER], outfile: writer, format: 'cjs', sourcemap: false });
  execFileSync(process.execPath, [writer, agent], { stdio: ['ignore', 'ignore', 'inherit'] });
  rmSync(writer);
}
