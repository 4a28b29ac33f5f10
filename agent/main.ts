/**
 * The program: configuration from the environment, signals, exit codes. Everything else is in the server.
 * Exit codes: 0 stopped, 1 failed, 2 bad configuration, 3 the address is in use.
 */
import { ConfigError, readConfig } from './config.ts';
import { AddressInUseError } from './serve/listen.ts';
import { messageOf } from './serve/log.ts';
import { startAgentServer } from './serve/server.ts';

function writeLine(stream: NodeJS.WriteStream, line: string): void {
  stream.write(`${line}\n`);
}

/** A full disk or a reader that has gone loses the line that says where it listens, but does not end the agent. */
function outliveOutput(): void {
  process.stdout.on('error', ({ message }) => {
    const told = { level: 'warning', message: `Cannot say where it listens: ${message}; it goes on` };
    writeLine(process.stderr, JSON.stringify(told));
  });
  // There is no place left to report it.
  process.stderr.on('error', () => undefined);
}

async function main(): Promise<void> {
  const config = readConfig(process.env, process.cwd());
  const server = await startAgentServer(config, { writeLog: (line) => writeLine(process.stderr, line) });
  const stop = (): void => {
    void server.stop().finally(() => process.exit(0));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  writeLine(process.stdout, JSON.stringify({ type: 'listening', address: server.address }));
}

/** The system's error names a folder that cannot be used; only this program knows where else it may be. */
function remedyOf(error: unknown): { readonly remedy?: string } {
  const isOfFiles = error instanceof Error && 'path' in error && !(error instanceof ConfigError);
  return isOfFiles
    ? { remedy: 'start it in a folder that can be written, or name one with OH_CONVERSATIONS_PATH' }
    : {};
}

outliveOutput();
main().catch((error: unknown) => {
  writeLine(
    process.stderr,
    JSON.stringify({ level: 'error', message: messageOf(error), ...remedyOf(error) }),
  );
  process.exitCode = error instanceof AddressInUseError ? 3 : error instanceof ConfigError ? 2 : 1;
  // Handles that a half-done start left open would keep the process alive.
  process.exit();
});
