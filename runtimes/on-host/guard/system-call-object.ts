/**
 * A shared object of some hundred bytes whose only work is system calls when it is loaded: Node.js cannot make these
 * calls itself, and no compiler is needed to install us. Owns the bytes; must not load them.
 */

const HEADER_BYTES = 64;
const SEGMENT_BYTES = 56;
/** The largest page of the processors below: both segments keep their place in the file. */
const ALIGNMENT = 0x10000;
/** Where the parts lie in the file. */
const AT = { code: 0x140, hash: 0x280, symbols: 0x290, strings: 0x2a8, dynamic: 0x300, end: 0x370 } as const;

/** One call: its number on each processor, and three unsigned arguments of 32 bits; all others are 0. */
export interface SystemCall {
  readonly number: Readonly<Record<'x64' | 'arm64', number>>;
  readonly args: readonly [number, number, number];
}

interface Machine {
  /** `e_machine` of an ELF file. */
  readonly elf: number;
  readonly code: (call: SystemCall) => readonly number[];
  /** Ends it. */
  readonly back: readonly number[];
}

const MACHINES: Readonly<Record<string, Machine>> = {
  x64: {
    elf: 62,
    // mov eax, number; mov edi, esi and edx; clear r10 and r8; syscall
    code: ({ number, args: [first, second, third] }) => [
      ...[0xb8, ...bytesOf(number.x64), 0xbf, ...bytesOf(first), 0xbe, ...bytesOf(second)],
      ...[0xba, ...bytesOf(third), 0x45, 0x31, 0xd2, 0x45, 0x31, 0xc0, 0x0f, 0x05],
    ],
    back: [0xc3],
  },
  arm64: {
    elf: 183,
    // movz and movk for each of w0, w1 and w2; clear x3 and x4; mov x8, number; svc 0
    code: ({ number, args }) =>
      [
        ...args.flatMap((value, register) => [
          0x52800000 + (value & 0xffff) * 32 + register,
          0x72a00000 + (value >>> 16) * 32 + register,
        ]),
        ...[0xd2800003, 0xd2800004, 0xd2800008 + number.arm64 * 32, 0xd4000001],
      ].flatMap(bytesOf),
    back: bytesOf(0xd65f03c0),
  },
};

function bytesOf(word: number): readonly number[] {
  return [word & 0xff, (word >>> 8) & 0xff, (word >>> 16) & 0xff, word >>> 24];
}

/** One after the other, whatever each answers. Null for a processor it was not written for. */
export function systemCallObject(processor: string, ...calls: readonly SystemCall[]): Uint8Array | null {
  const machine = MACHINES[processor];
  if (machine === undefined) return null;
  const bytes = new Uint8Array(AT.end);
  const view = new DataView(bytes.buffer);
  writeHeader(view, machine);
  // Code is read and executed; the dynamic section is written by some loaders, so it is in a segment of its own.
  writeSegment(view, 0, { type: 1, flags: 5, from: 0, bytes: AT.dynamic, align: ALIGNMENT });
  const dynamic = { from: AT.dynamic, bytes: AT.end - AT.dynamic };
  writeSegment(view, 1, { type: 1, flags: 6, ...dynamic, align: ALIGNMENT });
  writeSegment(view, 2, { type: 2, flags: 6, ...dynamic, align: 8 });
  // Without this mark a loader makes the stack executable.
  writeSegment(view, 3, { type: 0x6474e551, flags: 6, from: 0, bytes: 0, align: 16 });
  const code = [...calls.flatMap(machine.code), ...machine.back];
  if (code.length > AT.hash - AT.code)
    throw new RangeError(`${calls.length} calls are too many for an object`);
  bytes.set(code, AT.code);
  // A hash table with one bucket, and in it the one symbol that every table begins with.
  view.setUint32(AT.hash, 1, true);
  view.setUint32(AT.hash + 4, 1, true);
  const entries = [
    ...[[12, AT.code] as const, [4, AT.hash] as const, [5, AT.strings] as const, [6, AT.symbols] as const],
    ...[[10, 1] as const, [11, 24] as const, [0, 0] as const],
  ];
  for (const [index, [tag, value]] of entries.entries()) {
    view.setBigUint64(AT.dynamic + 16 * index, BigInt(tag), true);
    view.setBigUint64(AT.dynamic + 16 * index + 8, BigInt(value), true);
  }
  return bytes;
}

function writeHeader(view: DataView, { elf }: Machine): void {
  // "\x7fELF", 64 bits, little-endian, version 1.
  for (const [index, byte] of [0x7f, 0x45, 0x4c, 0x46, 2, 1, 1].entries()) view.setUint8(index, byte);
  view.setUint16(16, 3, true);
  view.setUint16(18, elf, true);
  view.setUint32(20, 1, true);
  view.setBigUint64(32, BigInt(HEADER_BYTES), true);
  view.setUint16(52, HEADER_BYTES, true);
  view.setUint16(54, SEGMENT_BYTES, true);
  view.setUint16(56, 4, true);
  view.setUint16(58, 64, true);
}

interface Segment {
  readonly type: number;
  readonly flags: number;
  readonly from: number;
  readonly bytes: number;
  readonly align: number;
}

function writeSegment(view: DataView, index: number, segment: Segment): void {
  const at = HEADER_BYTES + index * SEGMENT_BYTES;
  // The second segment lies one page further in memory than in the file.
  const address = segment.from >= AT.dynamic ? segment.from + ALIGNMENT : segment.from;
  view.setUint32(at, segment.type, true);
  view.setUint32(at + 4, segment.flags, true);
  const words = [segment.from, address, address, segment.bytes, segment.bytes, segment.align];
  for (const [word, value] of words.entries()) view.setBigUint64(at + 8 + 8 * word, BigInt(value), true);
}
