/**
 * The system call filter of a container, in the daemon's own form.
 * Owns the translation of what sandboxes may do; the daemon's default would allow one process of a sandbox to read
 * another.
 */
import { ALLOWED_CALLS } from '../on-host/seccomp/allowed-calls.ts';
import {
  MISSING_CALLS,
  NAMESPACE_FLAGS,
  PERSONALITIES,
  SOCKET_FAMILIES,
  TERMINAL_INPUT,
} from '../on-host/seccomp/refused-calls.ts';

const ENOSYS = 38;
const EAFNOSUPPORT = 97;
/** An `ioctl` request has 32 bits, whatever stands above them. */
const REQUEST_BITS = 32;

interface Argument {
  readonly index: number;
  readonly value: number;
  readonly valueTwo?: number;
  readonly op: 'SCMP_CMP_EQ' | 'SCMP_CMP_GE' | 'SCMP_CMP_MASKED_EQ';
}

interface Rule {
  readonly names: readonly string[];
  readonly action: 'SCMP_ACT_ERRNO' | 'SCMP_ACT_ALLOW';
  readonly errnoRet?: number;
  readonly args?: readonly Argument[];
}

/** JSON for the security option `seccomp`; null for a processor it was not written for. */
export function seccompProfile(processor: string): string | null {
  const architecture = { x64: 'SCMP_ARCH_X86_64', arm64: 'SCMP_ARCH_AARCH64' }[processor];
  if (architecture === undefined) return null;
  // Another convention than the one named here is a call of an unknown architecture, and ends its process. What the
  // profile does not know is EPERM, and for what is newer than all it knows the daemon answers that it is not there.
  return JSON.stringify({
    defaultAction: 'SCMP_ACT_ERRNO',
    architectures: [architecture],
    syscalls: rules(),
  });
}

function rules(): readonly Rule[] {
  const allowIf = (name: string, arg: Argument): Rule => ({
    names: [name],
    action: 'SCMP_ACT_ALLOW',
    args: [arg],
  });
  const refuseIf = (name: string, errnoRet: number, arg: Argument): Rule => ({
    names: [name],
    action: 'SCMP_ACT_ERRNO',
    errnoRet,
    args: [arg],
  });
  const masked = (index: number, mask: number, value: number): Argument => ({
    ...{ index, value: mask, valueTwo: value },
    op: 'SCMP_CMP_MASKED_EQ',
  });
  return [
    { names: ALLOWED_CALLS.map(({ name }) => name), action: 'SCMP_ACT_ALLOW' },
    { names: MISSING_CALLS, action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
    allowIf('clone', masked(0, NAMESPACE_FLAGS, 0)),
    ...othersThan(TERMINAL_INPUT).map(({ mask, value }) => allowIf('ioctl', masked(1, mask, value))),
    ...SOCKET_FAMILIES.map((value) => allowIf('socket', { index: 0, value, op: 'SCMP_CMP_EQ' })),
    ...otherFamilies().map((arg) => refuseIf('socket', EAFNOSUPPORT, arg)),
    ...PERSONALITIES.map((value) => allowIf('personality', { index: 0, value, op: 'SCMP_CMP_EQ' })),
  ];
}

interface Bits {
  readonly mask: number;
  readonly value: number;
}

/** All numbers of 32 bits but these, as masks: at each bit, the side on which none of them is left is one mask. */
function othersThan(numbers: readonly number[]): readonly Bits[] {
  const found: Bits[] = [];
  const walk = (bit: number, { mask, value }: Bits, left: readonly number[]): void => {
    if (left.length === 0) found.push({ mask, value });
    if (left.length === 0 || bit < 0) return;
    const weight = 2 ** bit;
    for (const side of [0, weight]) {
      const going = left.filter((number) => Math.floor(number / weight) % 2 === (side === 0 ? 0 : 1));
      walk(bit - 1, { mask: mask + weight, value: value + side }, going);
    }
  };
  walk(REQUEST_BITS - 1, { mask: 0, value: 0 }, numbers);
  return found;
}

/** Every family but those that are let through: one by one below the largest of them, all above it. */
function otherFamilies(): readonly Argument[] {
  const largest = Math.max(...SOCKET_FAMILIES);
  const below = Array.from({ length: largest }, (_, family) => family).filter(
    (family) => !SOCKET_FAMILIES.includes(family),
  );
  return [
    ...below.map((value) => ({ index: 0, value, op: 'SCMP_CMP_EQ' }) as const),
    { index: 0, value: largest + 1, op: 'SCMP_CMP_GE' },
  ];
}
