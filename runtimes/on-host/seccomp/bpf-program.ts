/**
 * The few instructions of the kernel's packet filter language that a system call filter needs.
 * Owns their encoding as `struct sock_filter`, little-endian; must not know a system call.
 */

/** One instruction: operation, jumps when true and when false, operand. */
export interface Instruction {
  readonly code: number;
  readonly jumpTrue: number;
  readonly jumpFalse: number;
  readonly operand: number;
}

/** Offsets into `struct seccomp_data`. Arguments have 64 bits; their lower half comes first. */
export const SECCOMP_DATA = {
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

export const load = (offset: number): Instruction => plain(LOAD_WORD, offset);
export const allow = (): Instruction => plain(RETURN, ALLOW);
export const kill = (): Instruction => plain(RETURN, KILL_PROCESS);
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
