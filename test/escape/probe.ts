/**
 * An attempt to get out of a sandbox, as a script that runs inside.
 * Owns the shape, and how a script says that it got out: it prints `ESCAPED`. Anything else, an error too, is a denial.
 */

/** What of the host the scripts are after; real things, each of which a plain process reaches. */
export interface EscapeTargets {
  /** Absolute; writable by the user of the test, and not a workspace. */
  readonly hostDir: string;
  /** A file in it, and what it holds. */
  readonly secretFile: string;
  readonly secret: string;
  /** Absolute path on the host of a file in the workspace of another sandbox; it holds `secret`. */
  readonly neighbourFile: string;
  /** A server of the host on 127.0.0.1. */
  readonly hostPort: number;
  /** Sockets of the host: one in `hostDir`, one without a file. */
  readonly hostSocket: string;
  readonly abstractSocket: string;
  /** A process of the host that has `gatewayKey` in its environment, as the proxy has. */
  readonly hostPid: number;
  readonly gatewayKey: string;
}

export interface Probe {
  readonly name: string;
  /** Run by `/bin/sh` in the workspace. */
  readonly script: (targets: EscapeTargets) => string;
  /**
   * What a plain process gets: out; out when it is root's; out on some hosts, so it is not judged; or it is not run
   * there, because it would harm the host or says nothing about it.
   */
  readonly onPlain: 'escapes' | 'escapes_as_root' | 'unjudged' | 'not_run';
}

export const ESCAPED = 'ESCAPED';

/** Escapes when the command succeeds. */
export const ifSucceeds = (command: string): string =>
  `if ${command} 2>/dev/null >&2; then echo ${ESCAPED}; fi`;

/** Escapes when the command prints the text. */
export const ifPrints = (command: string, text: string): string =>
  `if { ${command}; } 2>/dev/null | grep -aqF -- '${text}'; then echo ${ESCAPED}; fi`;
