/**
 * Where a server listens: whether an address is reached from this machine alone, and what is said when it cannot be used.
 * Owns the names that count as loopback, and the words of that error.
 */
import { CliError } from './cli-error.ts';

/** Whether a server at `host` is reached from this machine alone. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

interface ListenAt {
  readonly host: string;
  readonly port: number;
  /** Before `port` and `host` in the names of its options. */
  readonly prefix?: string;
}

/** What `start` gives. @throws CliError when the address cannot be listened on */
export async function listening<Server>(
  { host, port, prefix = '' }: ListenAt,
  start: () => Promise<Server>,
): Promise<Server> {
  try {
    return await start();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new CliError(`Cannot listen on port ${port} of "${host}": ${code}`, {
      remedy: `choose another --${prefix}port or --${prefix}host`,
    });
  }
}
