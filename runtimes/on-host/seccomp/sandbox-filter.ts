/**
 * Which system calls a sandbox may make.
 * Owns the filter's program; the lists and their reasons are in allowed-calls.ts and refused-calls.ts. What is in neither
 * is told as not there, as an older kernel would, so that programs take another way.
 */
import { allowedRanges } from './allowed-calls.ts';
import { SECCOMP_DATA, allow, encode, kill, load, refuse, unlessOneOf, when } from './bpf-program.ts';
import type { Instruction } from './bpf-program.ts';
import {
  MISSING_CALLS,
  NAMESPACE_FLAGS,
  PERSONALITIES,
  PLACE_CALLS,
  REFUSED_CALLS,
  SOCKET_FAMILIES,
  TERMINAL_INPUT,
} from './refused-calls.ts';
import { AUDIT_ARCHITECTURES, systemCallNumber } from './system-calls.ts';
import type { FilteredProcessor, SystemCall } from './system-calls.ts';

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** Calls of the other convention of x64 begin here; their numbers would pass by the list. */
const X32_BIT = 0x40000000;

/** Whose calls are filtered: an Agent Server that makes a place for its tools, or whatever else runs inside. */
export type FilteredPart = 'server' | 'tools';

/** The filter as the kernel takes it; null for a processor it was not written for. */
export function sandboxFilter(processor: string, part: FilteredPart = 'tools'): Uint8Array | null {
  return processor === 'x64' || processor === 'arm64' ? encode(sandboxProgram(processor, part)) : null;
}

export function sandboxProgram(
  processor: FilteredProcessor,
  part: FilteredPart = 'tools',
): readonly Instruction[] {
  const makesPlace = part === 'server';
  const placeCalls = makesPlace ? PLACE_CALLS : [];
  const refused = REFUSED_CALLS.filter((call) => !placeCalls.includes(call));
  const on = (call: SystemCall, body: readonly Instruction[]): readonly Instruction[] => {
    const number = systemCallNumber(call, processor);
    return number === null ? [] : when('equal', number, body);
  };
  return [
    load(SECCOMP_DATA.architecture),
    // Another convention, 32 bits say, has other numbers.
    ...unlessOneOf([AUDIT_ARCHITECTURES[processor]], [kill()]),
    load(SECCOMP_DATA.number),
    ...(processor === 'x64' ? when('at_least', X32_BIT, [refuse(ENOSYS)]) : []),
    ...placeCalls.flatMap((call) => on(call, [allow()])),
    ...refused.flatMap((call) => on(call, [refuse(EPERM)])),
    ...MISSING_CALLS.flatMap((call) => on(call, [refuse(ENOSYS)])),
    ...on('clone', [
      load(SECCOMP_DATA.argument(0)),
      ...(makesPlace ? [] : when('any_bit', NAMESPACE_FLAGS, [refuse(EPERM)])),
      allow(),
    ]),
    ...on('ioctl', [
      load(SECCOMP_DATA.argument(1)),
      ...TERMINAL_INPUT.flatMap((request) => when('equal', request, [refuse(EPERM)])),
      allow(),
    ]),
    ...on('socket', [
      load(SECCOMP_DATA.argument(0)),
      ...unlessOneOf(SOCKET_FAMILIES, [refuse(EAFNOSUPPORT)]),
      allow(),
    ]),
    ...on('personality', [
      load(SECCOMP_DATA.argument(0)),
      ...unlessOneOf(PERSONALITIES, [refuse(EPERM)]),
      allow(),
    ]),
    // From above: whatever reaches a range is below the one before.
    ...[...allowedRanges(processor)]
      .reverse()
      .flatMap(([from, to]) =>
        when('at_least', from, [...when('at_least', to + 1, [refuse(ENOSYS)]), allow()]),
      ),
    refuse(ENOSYS),
  ];
}
