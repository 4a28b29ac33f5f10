/**
 * Many ways to a process and a socket of the host, by number, by name and by what the kernel shows of them.
 * Owns the scripts; must not run them. None changes how the process runs.
 */
import { ESCAPED, ifPrints, ifSucceeds } from './probe.ts';
import type { EscapeTargets, Probe } from './probe.ts';

const succeeds = (name: string, command: (targets: EscapeTargets) => string): Probe => ({
  name,
  script: (targets) => ifSucceeds(command(targets)),
  onPlain: 'escapes',
});

/** A file of the process below `/proc` names the program it runs. */
const tells = (file: string): Probe => ({
  name: `reads ${file} of a process of the host`,
  script: ({ hostPid }) => ifPrints(`cat /proc/${hostPid}/${file}`, 'sleep'),
  onPlain: 'escapes',
});

/** Escapes when a server answers; the address is one of the many ways to write that of this machine. */
const connectsAs = (address: string): Probe => ({
  name: `connects to the host as ${address}`,
  script: ({ hostPort }) =>
    `node -e "require('net').connect(${hostPort},'${address}').on('connect',()=>{console.log('${ESCAPED}');process.exit()}).on('error',()=>process.exit())"`,
  onPlain: 'escapes',
});

const hexPort = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0');

export const HOST_PROCESS_PROBES: readonly Probe[] = [
  ...['comm', 'status', 'stat', 'maps', 'environ'].map((file) =>
    file === 'environ'
      ? {
          name: 'reads the environment of a process of the host',
          script: ({ hostPid }: EscapeTargets) => ifPrints(`cat /proc/${hostPid}/environ`, 'PATH='),
          onPlain: 'escapes' as const,
        }
      : tells(file),
  ),
  succeeds('follows the program of a process of the host', ({ hostPid }) => `readlink /proc/${hostPid}/exe`),
  succeeds('follows the folder of a process of the host', ({ hostPid }) => `ls /proc/${hostPid}/cwd/`),
  succeeds('lists the open files of a process of the host', ({ hostPid }) => `ls /proc/${hostPid}/fd/0`),
  succeeds(
    'follows a namespace of a process of the host',
    ({ hostPid }) => `readlink /proc/${hostPid}/ns/net`,
  ),
  succeeds(
    'opens the name of a process of the host for writing',
    ({ hostPid }) => `sh -c ": >> /proc/${hostPid}/comm"`,
  ),
  succeeds(
    'opens the memory score of a process of the host for writing',
    ({ hostPid }) => `sh -c ": >> /proc/${hostPid}/oom_score_adj"`,
  ),
  succeeds(
    'asks for the priority of a process of the host',
    ({ hostPid }) =>
      `perl -e 'exit(1) if !-d "/proc/${hostPid}"; $! = 0; getpriority(0, ${hostPid}); exit($! ? 1 : 0)'`,
  ),
  succeeds(
    'signals a process of the host from Node.js',
    ({ hostPid }) => `node -e "process.kill(${hostPid}, 0)"`,
  ),
  succeeds(
    'signals a process of the host from Perl',
    ({ hostPid }) => `perl -e 'exit(kill(0, ${hostPid}) ? 0 : 1)'`,
  ),
  succeeds(
    'waits for a process of the host',
    ({ hostPid }) => `sh -c "test -d /proc/${hostPid}/task/${hostPid}"`,
  ),
  {
    name: 'finds a process of the host by its name',
    script: ({ hostPid }) => ifPrints('grep -lx sleep /proc/[0-9]*/comm', `/proc/${hostPid}/comm`),
    onPlain: 'escapes',
  },
  {
    name: 'opens a descriptor of a process of the host (pidfd_open)',
    script: ({ hostPid }) => `perl -e 'print "${ESCAPED}\\n" if syscall(434, ${hostPid}, 0) >= 0'`,
    onPlain: 'escapes',
  },
  {
    name: 'reads which ports of the host are listened at',
    script: ({ hostPort }) => ifPrints('cat /proc/net/tcp', `0100007F:${hexPort(hostPort)}`),
    onPlain: 'escapes',
  },
  {
    name: 'reads which socket files of the host there are',
    script: ({ hostSocket }) => ifPrints('cat /proc/net/unix', hostSocket),
    onPlain: 'escapes',
  },
  {
    name: 'reads which sockets without a file there are',
    script: ({ abstractSocket }) => ifPrints('cat /proc/net/unix', `@${abstractSocket}`),
    onPlain: 'escapes',
  },
  ...['127.1', '2130706433', '0x7f000001', '::ffff:127.0.0.1'].map(connectsAs),
  {
    name: 'connects to the host from a shell',
    script: ({ hostPort }) => ifSucceeds(`bash -c 'exec 3<> /dev/tcp/127.0.0.1/${hostPort}'`),
    onPlain: 'escapes',
  },
  {
    name: 'connects to the host from Perl',
    script: ({ hostPort }) =>
      `perl -MIO::Socket::INET -e 'print "${ESCAPED}\\n" if IO::Socket::INET->new(PeerAddr => "127.0.0.1:${hostPort}", Timeout => 2)'`,
    onPlain: 'escapes',
  },
  {
    name: 'connects to a socket file of the host from Perl',
    script: ({ hostSocket }) =>
      `perl -MIO::Socket::UNIX -e 'print "${ESCAPED}\\n" if IO::Socket::UNIX->new(Peer => "${hostSocket}")'`,
    onPlain: 'escapes',
  },
];
