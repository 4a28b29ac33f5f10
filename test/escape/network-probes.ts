/**
 * Attempts on the network of the host and on what lies behind it.
 * Owns the scripts; must not run them. Addresses off this machine are only looked up in the routing table: a datagram
 * socket that is connected sends nothing.
 */
import { ESCAPED, ifPrints } from './probe.ts';
import type { Probe } from './probe.ts';

const node = (code: string): string => `node -e "${code}"`;
const NOTHING = 'process.exit()';

/** Escapes when a server answers. */
const connects = (to: string): string =>
  node(
    `require('net').connect(${to}).on('connect',()=>{console.log('${ESCAPED}');${NOTHING}}).on('error',()=>${NOTHING})`,
  );

/** Escapes when the kernel knows a way to the address. */
const hasRoute = (address: string): string => {
  const family = address.includes(':') ? 'udp6' : 'udp4';
  return node(
    `const s=require('dgram').createSocket('${family}');s.on('error',()=>${NOTHING});` +
      `s.connect(80,'${address}',e=>{if(!e)console.log('${ESCAPED}');${NOTHING}})`,
  );
};

/** A socket of that family and type; any answer but a refusal is an escape. */
const opensSocket = (family: number, type: number): string =>
  `perl -e 'print "${ESCAPED}\\n" if socket(my $s, ${family}, ${type}, 0)'`;

export const NETWORK_PROBES: readonly Probe[] = [
  {
    name: 'connects to a port of the host on loopback',
    script: ({ hostPort }) => connects(`${hostPort},'127.0.0.1'`),
    onPlain: 'escapes',
  },
  {
    name: 'connects to the host by the address that means any',
    script: ({ hostPort }) => connects(`${hostPort},'0.0.0.0'`),
    onPlain: 'escapes',
  },
  {
    name: 'connects to the host by its name',
    script: ({ hostPort }) => connects(`${hostPort},'localhost'`),
    onPlain: 'escapes',
  },
  ...(
    [
      ['the metadata service', '169.254.169.254'],
      ['a private network, 10/8', '10.0.0.1'],
      ['a private network, 172.16/12', '172.17.0.1'],
      ['a private network, 192.168/16', '192.168.1.1'],
      ['the Internet', '192.0.2.1'],
      ['the Internet by IPv6', '2001:db8::1'],
    ] as const
  ).map(([what, address]) => ({
    name: `has a route to ${what}`,
    script: () => hasRoute(address),
    onPlain: 'unjudged' as const,
  })),
  {
    name: 'connects to a socket file of the host',
    script: ({ hostSocket }) => connects(`'${hostSocket}'`),
    onPlain: 'escapes',
  },
  {
    name: 'connects to a socket of the host that has no file',
    script: ({ abstractSocket }) => connects(`'\\\\0${abstractSocket}'`),
    onPlain: 'escapes',
  },
  {
    name: 'has a network device',
    script: () => `tail -n +3 /proc/net/dev | grep -vq '^ *lo:' && echo ${ESCAPED}`,
    onPlain: 'unjudged',
  },
  { name: 'opens a raw socket', script: () => opensSocket(2, 3), onPlain: 'unjudged' },
  { name: 'opens a packet socket', script: () => opensSocket(17, 3), onPlain: 'unjudged' },
  { name: 'opens a socket to the hypervisor', script: () => opensSocket(40, 1), onPlain: 'unjudged' },
  {
    name: 'opens a socket to the cryptography of the kernel',
    script: () => opensSocket(38, 5),
    onPlain: 'unjudged',
  },
  {
    name: 'knows the key of the gateway',
    script: ({ gatewayKey }) => {
      // The script itself is in a command line, so the key is put together only when it is compared.
      const [left, right] = [gatewayKey.slice(0, 8), gatewayKey.slice(8)];
      return `k='${left}'; k="$k"'${right}'; ${`cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -aq "^GATEWAY_KEY=$k" && echo ${ESCAPED}`}`;
    },
    onPlain: 'escapes',
  },
  {
    name: 'is told the address of the gateway',
    script: () => ifPrints('env', 'GATEWAY'),
    onPlain: 'not_run',
  },
];
