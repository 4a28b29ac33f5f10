// The command line of the program. Pure: no file is opened here.

import { parseArgs } from 'node:util';

/** How to call the program. */
export const usageText =
  'usage: scripted-gateway SCRIPT.yaml [--port N] [--host ADDRESS] [--ledger FILE.jsonl]';

export interface ProgramOptions {
  readonly scriptPath: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly host: string;
  readonly ledgerPath: string | null;
}

/** Reads the arguments. Throws an Error whose message is for the user when they are not understood. */
export function parseProgramOptions(args: readonly string[]): ProgramOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      port: { type: 'string', default: '0' },
      host: { type: 'string', default: '127.0.0.1' },
      ledger: { type: 'string' },
    },
  });
  const [scriptPath, ...rest] = positionals;
  if (scriptPath === undefined || rest.length > 0) {
    throw new Error(`expected one script, found ${positionals.length}`);
  }
  const port = /^\d{1,5}$/.test(values.port) ? Number(values.port) : NaN;
  if (!(port <= 65_535)) throw new Error(`--port: found "${values.port}", expected a number from 0 to 65535`);
  return { scriptPath, port, host: values.host, ledgerPath: values.ledger ?? null };
}
