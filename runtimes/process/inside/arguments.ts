/**
 * The command line of the sandbox's first program.
 * Owns its grammar: `[--bridge PORT=SOCKET|PORT=HOST:PORT]… [--entrance PORT=SOCKET] [--guard FILE] [--other-user
 * UID:GID:GROUP=FILE [--door FOLDER]…] --log-bytes-max N -- AGENT-SERVER`, and for the process it starts `--agent [--guard
 * FILE] [--other-user …] -- AGENT-SERVER`; carries no secret, for process lists are public. Must not touch the system.
 */
import type { OtherUser } from './other-user.ts';

/** One port inside that leads to a unix socket. */
export interface SocketBridge {
  readonly port: number;
  readonly socketPath: string;
}

/** One loopback port inside that leads to another machine. */
interface RemoteBridge {
  readonly port: number;
  readonly remote: { readonly host: string; readonly port: number };
}

export type Bridge = SocketBridge | RemoteBridge;

export interface InitArguments {
  /** `first` prepares and watches; `agent` becomes the agent server. */
  readonly role: 'first' | 'agent';
  readonly bridges: readonly Bridge[];
  /** A port on every address that leads to the agent server, where it is reached over a network; null elsewhere. */
  readonly entrance: SocketBridge | null;
  /** The object that closes a process to others; null where there is none. */
  readonly guard: string | null;
  /** Null: this program and its tools are one user. */
  readonly otherUser: OtherUser | null;
  readonly logBytesMax: number;
  /** The agent server: one file that Node.js runs. */
  readonly agentServer: string;
}

/** @throws Error an argument is unknown, malformed or missing; the message names it */
export function parseInitArguments(argv: readonly string[]): InitArguments {
  const bridges: Bridge[] = [];
  const role = argv[0] === '--agent' ? 'agent' : 'first';
  let logBytesMax: number | null = null;
  let guard: string | null = null;
  let entrance: SocketBridge | null = null;
  let otherUser: Omit<OtherUser, 'doors'> | null = null;
  const doors: string[] = [];
  let index = role === 'agent' ? 1 : 0;
  for (; index < argv.length && argv[index] !== '--'; index += 2) {
    const name = argv[index];
    const value = argv[index + 1] ?? '';
    if (name === '--bridge') bridges.push(parseBridge(value));
    else if (name === '--entrance') entrance = parseEntrance(value);
    else if (name === '--log-bytes-max') logBytesMax = parseCount(value);
    else if (name === '--guard') guard = value;
    else if (name === '--other-user') otherUser = parseOtherUser(value);
    else if (name === '--door') doors.push(value);
    else throw new Error(`Cannot read arguments: "${name}" is not known`);
  }
  const agentServer = argv[index + 1];
  if (agentServer === undefined) throw new Error('Cannot read arguments: no agent server after "--"');
  if (role === 'first' && logBytesMax === null) {
    throw new Error('Cannot read arguments: "--log-bytes-max" is missing');
  }
  return {
    ...{ role, bridges, entrance, guard, logBytesMax: logBytesMax ?? 0, agentServer },
    otherUser: otherUser === null ? null : { ...otherUser, doors },
  };
}

/** For the second process: the folders are its own already. */
export function otherUserArguments({ uid, gid, group, object }: OtherUser): readonly string[] {
  return ['--other-user', `${uid}:${gid}:${group}=${object}`];
}

function parseOtherUser(text: string): Omit<OtherUser, 'doors'> {
  const match = /^(\d{1,10}):(\d{1,10}):(\d{1,10})=(\/.+)$/.exec(text);
  if (match === null) throw new Error(`Cannot read arguments: "${text}" is not UID:GID:GROUP=FILE`);
  const [uid = 0, gid = 0, group = 0] = match.slice(1, 4).map(Number);
  return { uid, gid, group, object: match[4] ?? '' };
}

function parseBridge(text: string): Bridge {
  const remote = /^(\d{1,5})=\[?([^/[\]]+?)\]?:(\d{1,5})$/.exec(text);
  if (remote === null) return parseEntrance(text);
  return { port: Number(remote[1]), remote: { host: remote[2] ?? '', port: Number(remote[3]) } };
}

function parseEntrance(text: string): SocketBridge {
  const match = /^(\d{1,5})=(\/.+)$/.exec(text);
  if (match === null) throw new Error(`Cannot read arguments: "${text}" is not PORT=SOCKET`);
  return { port: Number(match[1]), socketPath: match[2] ?? '' };
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,11}$/.test(text)) throw new Error(`Cannot read arguments: "${text}" is not a count`);
  return Number(text);
}
