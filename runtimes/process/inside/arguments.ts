/**
 * The command line of the sandbox's first program.
 * Owns its grammar: `[--bridge PORT=SOCKET]… --log-bytes-max N -- PROGRAM ARGUMENT…`; carries no secret, for process
 * lists are public. Must not touch the system.
 */

/** One loopback port inside that leads to a unix socket of the host. */
export interface Bridge {
  readonly port: number;
  readonly socketPath: string;
}

export interface InitArguments {
  readonly bridges: readonly Bridge[];
  readonly logBytesMax: number;
  /** The agent server: program and arguments, at least one element. */
  readonly command: readonly string[];
}

/** @throws Error an argument is unknown, malformed or missing; the message names it */
export function parseInitArguments(argv: readonly string[]): InitArguments {
  const bridges: Bridge[] = [];
  let logBytesMax: number | null = null;
  let index = 0;
  for (; index < argv.length && argv[index] !== '--'; index += 2) {
    const name = argv[index];
    const value = argv[index + 1] ?? '';
    if (name === '--bridge') bridges.push(parseBridge(value));
    else if (name === '--log-bytes-max') logBytesMax = parseCount(value);
    else throw new Error(`Cannot read arguments: "${name}" is not known`);
  }
  const command = argv.slice(index + 1);
  if (command.length === 0) throw new Error('Cannot read arguments: no program after "--"');
  if (logBytesMax === null) throw new Error('Cannot read arguments: "--log-bytes-max" is missing');
  return { bridges, logBytesMax, command };
}

function parseBridge(text: string): Bridge {
  const match = /^(\d{1,5})=(\/.+)$/.exec(text);
  if (match === null) throw new Error(`Cannot read arguments: "${text}" is not PORT=SOCKET`);
  return { port: Number(match[1]), socketPath: match[2] ?? '' };
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,11}$/.test(text)) throw new Error(`Cannot read arguments: "${text}" is not a count`);
  return Number(text);
}
