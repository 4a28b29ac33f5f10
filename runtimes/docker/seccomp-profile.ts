/**
 * The system call filter of a container, in the daemon's own form.
 * Owns the translation of what sandboxes are refused; the daemon's default would allow one process of a sandbox to look
 * into another, and the rings of system calls.
 */
import {
  MISSING_CALLS,
  NAMESPACE_FLAGS,
  REFUSED_CALLS,
  SOCKET_FAMILIES,
  TERMINAL_INPUT,
} from '../on-host/seccomp/refused-calls.ts';

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;
/** An `ioctl` request has 32 bits, whatever stands above them. */
const REQUEST_MASK = 0xffffffff;

interface Argument {
  readonly index: number;
  readonly value: number;
  readonly valueTwo?: number;
  readonly op: 'SCMP_CMP_EQ' | 'SCMP_CMP_GE' | 'SCMP_CMP_MASKED_EQ';
}

interface Rule {
  readonly names: readonly string[];
  readonly action: 'SCMP_ACT_ERRNO';
  readonly errnoRet: number;
  readonly args?: readonly Argument[];
}

/** JSON for the security option `seccomp`; null for a processor it was not written for. */
export function seccompProfile(processor: string): string | null {
  const architecture = { x64: 'SCMP_ARCH_X86_64', arm64: 'SCMP_ARCH_AARCH64' }[processor];
  if (architecture === undefined) return null;
  // Another convention than the one named here is a call of an unknown architecture, and ends its process.
  return JSON.stringify({
    defaultAction: 'SCMP_ACT_ALLOW',
    architectures: [architecture],
    syscalls: rules(),
  });
}

function rules(): readonly Rule[] {
  const refuse = (names: readonly string[], errnoRet: number, args?: readonly Argument[]): Rule => ({
    names,
    action: 'SCMP_ACT_ERRNO',
    errnoRet,
    ...(args === undefined ? {} : { args }),
  });
  return [
    refuse(REFUSED_CALLS, EPERM),
    refuse(MISSING_CALLS, ENOSYS),
    ...bitsOf(NAMESPACE_FLAGS).map((bit) =>
      refuse(['clone'], EPERM, [{ index: 0, value: bit, valueTwo: bit, op: 'SCMP_CMP_MASKED_EQ' }]),
    ),
    ...TERMINAL_INPUT.map((request) =>
      refuse(['ioctl'], EPERM, [
        { index: 1, value: REQUEST_MASK, valueTwo: request, op: 'SCMP_CMP_MASKED_EQ' },
      ]),
    ),
    ...otherFamilies().map((arg) => refuse(['socket'], EAFNOSUPPORT, [arg])),
  ];
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

function bitsOf(flags: number): readonly number[] {
  return Array.from({ length: 31 }, (_, index) => 2 ** index).filter((bit) => (flags & bit) !== 0);
}
