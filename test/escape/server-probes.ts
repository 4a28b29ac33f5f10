/**
 * Attempts on the Agent Server of the same sandbox: its process, its state, its log and its socket.
 * Owns the scripts; must not run them. None harms a server that it reaches, so that the suite goes on.
 */
import { ESCAPED, ifPrints, ifSucceeds } from './probe.ts';
import type { Probe } from './probe.ts';

/** Numbers of all processes that run the Agent Server, or watch over it. */
const SERVERS = `$(grep -laE 'agent[^/]*[.]cjs' /proc/[0-9]*/cmdline 2> /dev/null | cut -d/ -f3)`;
const STATE = '"${OH_CONVERSATIONS_PATH:-/agent/conversations}"';

const ofAServer = (name: string, command: string, onPlain: Probe['onPlain']): Probe => ({
  name,
  script: () => `for p in ${SERVERS}; do ${command} && echo ${ESCAPED}; done 2> /dev/null`,
  onPlain,
});
/** A call on a process, by its numbers on x64 and arm64; perl has no names for them. */
const called = (x64: number, arm64: number, rest: string): string =>
  `perl -e '$n = \`uname -m\` =~ /aarch64/ ? ${arm64} : ${x64}; exit(syscall($n, $ARGV[0] + 0, ${rest}) < 0)' "$p"`;
const succeeds = (name: string, command: string, onPlain: Probe['onPlain'] = 'escapes'): Probe => ({
  name,
  script: () => ifSucceeds(`sh -c '${command}'`),
  onPlain,
});

/** Where tools are beside their Agent Server these get through, and its page says so. */
export const SERVER_PROBES: readonly Probe[] = [
  ofAServer('may signal the Agent Server', 'kill -0 "$p"', 'escapes'),
  ofAServer('ends the Agent Server', 'kill -9 "$p"', 'not_run'),
  ofAServer('halts the Agent Server', 'kill -STOP "$p" && kill -CONT "$p"', 'escapes'),
  ofAServer('sees the Agent Server', 'test -d "/proc/$p/task"', 'escapes'),
  ofAServer('changes the priority of the Agent Server', 'renice -n 5 "$p" > /dev/null', 'not_run'),
  ofAServer(
    'chooses the processors of the Agent Server',
    called(203, 122, '8, $m = pack("Q", 2 ** 32 - 1)'),
    'escapes',
  ),
  ofAServer(
    'changes the limits of the Agent Server',
    called(302, 261, '4, $m = pack("QQ", 0, 0), 0'),
    'escapes',
  ),
  {
    name: 'puts its own in the place of what leads to the host',
    script: () =>
      `mv /run/parley /run/parley.away && echo ${ESCAPED} && mv /run/parley.away /run/parley 2> /dev/null`,
    onPlain: 'not_run',
  },
  succeeds('lists the state of the Agent Server', `ls ${STATE}/boots`),
  {
    name: 'reads the state of the Agent Server',
    script: () => ifPrints(`cat ${STATE}/boots`, '1'),
    onPlain: 'escapes',
  },
  succeeds('writes to the state of the Agent Server', `: >> ${STATE}/boots`),
  succeeds('adds to the state of the Agent Server', `: > ${STATE}/planted && rm ${STATE}/planted`),
  succeeds(
    'moves the state of the Agent Server',
    `mv ${STATE}/boots ${STATE}/away && mv ${STATE}/away ${STATE}/boots`,
  ),
  succeeds('makes a file where the Agent Server made its socket', ': > "$PARLEY_AGENT_SOCKET.planted"'),
  succeeds('writes to the log of the sandbox', ': >> ../sandbox.log'),
];
