/**
 * Which addresses are the Internet, and which belong to a private network.
 * Owns the ranges that a sandbox never reaches, whatever name led there: loopback, private, link-local with the
 * metadata service of clouds, shared, reserved and multicast ones, and the forms of IPv6 that hold such an address.
 */
import { BlockList, isIP } from 'node:net';

/** Registered as not globally reachable, and multicast. */
const RANGES_4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
];
/** Everything outside of global unicast, and in it what leads elsewhere: documentation, tunnels, translations. */
const RANGES_6 = ['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

// One list each: a list judges an address of IPv4 by its ranges of IPv6 too.
const blocked = listOf([...RANGES_4, ...RANGES_6]);

/** Networks that a company gives to its own hosts; loopback, link-local and metadata addresses are in none. */
const PRIVATE_4 = ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16'];
const PRIVATE_6 = ['fc00::/7'];
/** Inside of them, and yet the metadata services of clouds. */
const METADATA = ['100.100.100.200/32', '192.0.0.192/32', 'fd00:ec2::/32', 'fd20:ce::254/128'];

const ownNetworks = listOf([...PRIVATE_4, ...PRIVATE_6]);
const metadata = listOf(METADATA);

function listOf(ranges: readonly string[]): Readonly<Record<'ipv4' | 'ipv6', BlockList>> {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const range of ranges) {
    const [network = '', prefix = ''] = range.split('/');
    const family = isIP(network) === 4 ? 'ipv4' : 'ipv6';
    lists[family].addSubnet(network, Number(prefix), family);
  }
  return lists;
}

/** An address of a private network that a deployment may open by name. */
export function isPrivateAddress(address: string): boolean {
  const kind = isIP(address);
  if (kind === 0) return false;
  const family = kind === 4 ? 'ipv4' : 'ipv6';
  return ownNetworks[family].check(address, family) && !metadata[family].check(address, family);
}

/** False for what is no address at all. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !blocked.ipv4.check(address, 'ipv4');
    case 6:
      return !blocked.ipv6.check(address, 'ipv6');
    default:
      return false;
  }
}
