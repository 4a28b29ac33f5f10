/**
 * Attempts on other processes: of the host, and of the Agent Server in the same sandbox.
 * Owns the scripts; must not run them. The shell that runs a script is a child of the Agent Server.
 */
import { ESCAPED, ifPrints, ifSucceeds } from './probe.ts';
import type { Probe } from './probe.ts';

export const PROCESS_PROBES: readonly Probe[] = [
  {
    name: 'sees a process of the host',
    script: ({ hostPid }) => ifPrints(`tr '\\0' ' ' < /proc/${hostPid}/cmdline`, 'sleep'),
    onPlain: 'escapes',
  },
  {
    name: 'signals a process of the host',
    script: ({ hostPid }) => ifSucceeds(`kill -0 ${hostPid}`),
    onPlain: 'escapes',
  },
  {
    name: 'finds the session key in the environment of a process',
    script: () =>
      `cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -aq '^OH_SESSION_API_KEYS_0=.' && echo ${ESCAPED}`,
    onPlain: 'unjudged',
  },
  {
    name: 'reads the environment of the Agent Server',
    script: () => ifPrints('cat /proc/$PPID/environ', 'PARLEY_SANDBOX_ID'),
    onPlain: 'escapes',
  },
  {
    name: 'reads the memory map of the Agent Server',
    script: () => ifPrints('cat /proc/$PPID/maps', 'node'),
    onPlain: 'escapes',
  },
  {
    name: 'opens the memory of the Agent Server',
    script: () =>
      ifSucceeds('sh -c "exec 3< /proc/$PPID/mem"')
        .replace('$PPID', '\\$AGENT')
        .replace(/^/, 'export AGENT=$PPID; '),
    onPlain: 'escapes',
  },
  {
    name: 'follows the open files of the Agent Server',
    script: () =>
      `for f in /proc/$PPID/fd/*; do readlink "$f" && echo ${ESCAPED} && break; done 2>/dev/null | grep ${ESCAPED}`,
    onPlain: 'escapes',
  },
  {
    name: 'inherits an open file of the host',
    script: ({ hostDir }) => ifPrints('ls -l /proc/[0-9]*/fd', hostDir),
    onPlain: 'unjudged',
  },
  {
    name: 'has an open file that nobody gave it',
    // Three standard ones, and the directory that is being listed.
    script: () => `[ "$(ls /proc/self/fd | wc -l)" -gt 4 ] && echo ${ESCAPED}`,
    onPlain: 'unjudged',
  },
  {
    name: 'reaches the host through a descriptor it inherited',
    script: ({ secret }) =>
      ifPrints('for f in /proc/[0-9]*/fd/*; do cat "$f"/../parley-host-*/secret; done', secret),
    onPlain: 'unjudged',
  },
  {
    name: 'moves the socket of the Agent Server',
    script: () =>
      `for s in $(find /run "\${PARLEY_AGENT_SOCKET%/*/*}" -name 'agent.sock' 2>/dev/null); do mv "$s" "$s.away" && mv "$s.away" "$s" && echo ${ESCAPED} && break; done 2>/dev/null`,
    onPlain: 'escapes',
  },
  {
    name: 'inherits a variable of the host',
    script: () => ifPrints('env', 'ESCAPE_SUITE_MARK'),
    onPlain: 'unjudged',
  },
  {
    name: 'has a terminal',
    script: () => ifSucceeds('sh -c "exec 3< /dev/tty"'),
    onPlain: 'unjudged',
  },
  {
    name: 'could gain privileges by a program of root',
    script: () => `grep -q 'NoNewPrivs:.*1' /proc/self/status || echo ${ESCAPED}`,
    onPlain: 'unjudged',
  },
  {
    name: 'has a capability',
    script: () =>
      `grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status | grep -vq '0000000000000000' && echo ${ESCAPED}`,
    onPlain: 'unjudged',
  },
];
