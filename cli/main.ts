/**
 * The program `parley`: the real process around the command line.
 * Owns the very end: output is flushed, then the process ends with the command's code, whatever is still open.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { keepDescriptorsFromChildren } from '../runtimes/on-host/inherited-descriptors.ts';
import { startCold } from '../host/cold-start.ts';
import { processShell } from './process-shell.ts';
import { runCli } from './program.ts';

const programDir = path.dirname(fileURLToPath(import.meta.url));

/** The built program stands in dist/, one folder below package.json. */
function readVersion(): string {
  const text = readFileSync(path.join(programDir, '..', 'package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}

/** The reader of our output has gone, as `head` does: there is nothing left to say. A full disk is reported. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`parley: Cannot write to standard output: ${error.message}\n`, () => process.exit(1));
});

/** Messages for people get lost when standard error is closed; the work, the result and the exit code do not. */
process.stderr.on('error', () => undefined);

keepDescriptorsFromChildren();
startCold(process.argv[2]);
const shell = processShell({ version: readVersion(), programDir });
const exitCode = await runCli(process.argv.slice(2), shell);
await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
process.exit(exitCode);
