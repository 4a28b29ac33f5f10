/**
 * Which system calls a sandbox may make.
 * Owns the filter's program; the lists and their reasons are in allowed-calls.ts and refused-calls.ts. What is in neither
 * is answered as not there, as an older kernel would, so that programs take another way.
 */
import { allowedRanges } from './allowed-calls.ts';
import {
  MISSING_CALLS,
  NAMESPACE_FLAGS,
  PERSONALITIES,
  PLACE_CALLS,
  REFUSED_CALLS,
  SOCKET_FAMILIES,
  TERMINAL_INPUT,
} from './refused-calls.ts';
import {
  AUDIT_ARCHITECTURES,
  systemCallNumber,
  type FilteredProcessor,
  type SystemCall,
} from './system-calls.ts';

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

/**
 * The few instructions of the kernel's packet filter language that a system call filter needs.
 * Owns their encoding as `struct sock_filter`, little-endian; must not know a system call.
 */

/** One instruction: operation, jumps when true and when false, operand. */
interface Instruction {
  readonly code: number;
  readonly jumpTrue: number;
  readonly jumpFalse: number;
  readonly operand: number;
}

/** Offsets into `struct seccomp_data`. Arguments have 64 bits; their lower half comes first. */
const SECCOMP_DATA = {
  number: 0,
  architecture: 4,
  argument: (index: number) => 16 + 8 * index,
} as const;

const LOAD_WORD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const ERRNO = 0x00050000;

const INSTRUCTION_BYTES = 8;
/** The kernel takes no longer program. */
const INSTRUCTIONS_MAX = 4_096;

const plain = (code: number, operand: number): Instruction => ({ code, jumpTrue: 0, jumpFalse: 0, operand });

const load = (offset: number): Instruction => plain(LOAD_WORD, offset);
export const allow = (): Instruction => plain(RETURN, ALLOW);
const kill = (): Instruction => plain(RETURN, KILL_PROCESS);
export const refuse = (errno: number): Instruction => plain(RETURN, ERRNO | errno);

type Condition = 'equal' | 'at_least' | 'any_bit';
const CONDITION_CODES: Readonly<Record<Condition, number>> = {
  equal: JUMP_EQUAL,
  at_least: JUMP_AT_LEAST,
  any_bit: JUMP_ANY_BIT,
};

/** Runs `body` when the loaded word meets the condition, else goes on behind it. */
export function when(
  condition: Condition,
  operand: number,
  body: readonly Instruction[],
): readonly Instruction[] {
  return [{ code: CONDITION_CODES[condition], jumpTrue: 0, jumpFalse: body.length, operand }, ...body];
}

/** Runs `body` unless the loaded word is one of `operands`. */
export function unlessOneOf(
  operands: readonly number[],
  body: readonly Instruction[],
): readonly Instruction[] {
  const tests = operands.map((operand, index): Instruction => {
    const behindBody = operands.length - 1 - index + body.length;
    return { code: JUMP_EQUAL, jumpTrue: behindBody, jumpFalse: 0, operand };
  });
  return [...tests, ...body];
}

/** As the kernel takes it. @throws RangeError a jump or the whole is longer than the kernel allows */
export function encode(program: readonly Instruction[]): Uint8Array {
  if (program.length > INSTRUCTIONS_MAX) throw new RangeError('Cannot encode a filter: it is too long');
  const bytes = new DataView(new ArrayBuffer(program.length * INSTRUCTION_BYTES));
  for (const [index, { code, jumpTrue, jumpFalse, operand }] of program.entries()) {
    if (jumpTrue > 0xff || jumpFalse > 0xff)
      throw new RangeError('Cannot encode a filter: a jump is too far');
    const at = index * INSTRUCTION_BYTES;
    bytes.setUint16(at, code, true);
    bytes.setUint8(at + 2, jumpTrue);
    bytes.setUint8(at + 3, jumpFalse);
    bytes.setUint32(at + 4, operand >>> 0, true);
  }
  return new Uint8Array(bytes.buffer);
}
