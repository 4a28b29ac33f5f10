/** The system call filter, run by a small interpreter: what it says of each call, on both processors. */
import { describe, expect, it } from 'vitest';
import { guardObject } from '../../runtimes/on-host/guard/guard-file.ts';
import {
  encode,
  unlessOneOf,
  when,
  allow,
  refuse,
  sandboxFilter,
  sandboxProgram,
  type FilteredPart,
} from '../../runtimes/on-host/seccomp/sandbox-filter.ts';
import { ALLOWED_CALLS } from '../../runtimes/on-host/seccomp/allowed-calls.ts';
import { MISSING_CALLS, PLACE_CALLS, REFUSED_CALLS } from '../../runtimes/on-host/seccomp/refused-calls.ts';
import {
  AUDIT_ARCHITECTURES,
  systemCallNumber,
  type FilteredProcessor,
  type SystemCall,
} from '../../runtimes/on-host/seccomp/system-calls.ts';

const ALLOW = 0x7fff0000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;
const EAFNOSUPPORT = 0x00050061;
const KILL = 0x80000000;

interface Call {
  readonly number: number;
  readonly architecture: number;
  readonly args?: readonly number[];
}

/** As the kernel runs it, over `struct seccomp_data`. */
function judge(
  processor: FilteredProcessor,
  { number, architecture, args = [] }: Call,
  part: FilteredPart = 'tools',
): number {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, number, true);
  data.setUint32(4, architecture, true);
  for (const [index, value] of args.entries()) data.setBigUint64(16 + 8 * index, BigInt(value), true);
  const program = sandboxProgram(processor, part);
  let word = 0;
  for (let at = 0; ; at += 1) {
    const one = program[at];
    if (one === undefined) throw new Error('the filter runs off its end');
    const { code, operand, jumpTrue, jumpFalse } = one;
    if (code === 0x06) return operand >>> 0;
    if (code === 0x20) word = data.getUint32(operand, true);
    else {
      const met =
        code === 0x15
          ? word === operand >>> 0
          : code === 0x35
            ? word >= operand >>> 0
            : (word & operand) !== 0;
      at += met ? jumpTrue : jumpFalse;
    }
  }
}

describe.each(['x64', 'arm64'] as const)('the filter for %s', (processor) => {
  const architecture = AUDIT_ARCHITECTURES[processor];
  const on = (call: SystemCall, ...args: readonly number[]): number =>
    judge(processor, { number: systemCallNumber(call, processor) ?? -1, architecture, args });

  it.each([
    'ptrace',
    'mount',
    'unshare',
    'setns',
    'bpf',
    'keyctl',
    'process_vm_readv',
    'reboot',
    'pidfd_getfd',
  ] as const)('refuses %s', (call) => expect(on(call)).toBe(EPERM));

  it.each(['clone3', 'io_uring_setup'] as const)('says that %s is not there', (call) =>
    expect(on(call)).toBe(ENOSYS),
  );

  it('lets a fork and a thread through, and no namespace', () => {
    expect(on('clone', 17)).toBe(ALLOW);
    expect(on('clone', 0x3d0f00)).toBe(ALLOW);
    for (const flag of [0x10000000, 0x20000, 0x40000000, 0x20000000, 0x2000000]) {
      expect(on('clone', flag | 17)).toBe(EPERM);
    }
  });

  it('lets a terminal be asked, and not be typed into, whatever the upper half says', () => {
    expect(on('ioctl', 0, 0x5401)).toBe(ALLOW);
    expect(on('ioctl', 0, 0x5412)).toBe(EPERM);
    expect(on('ioctl', 0, 0x7_0000_5412)).toBe(EPERM);
  });

  it.each([
    [1, ALLOW],
    [2, ALLOW],
    [10, ALLOW],
    [16, ALLOW],
    [17, EAFNOSUPPORT],
    [38, EAFNOSUPPORT],
    [40, EAFNOSUPPORT],
  ])('answers a socket of family %d', (family, answer) => expect(on('socket', family)).toBe(answer));

  it('allows each call that it lists, and every other one is told as not there', () => {
    const allowed = ALLOWED_CALLS.flatMap(({ number }) => number[processor] ?? []);
    expect(allowed.length).toBeGreaterThan(200);
    const special = ['clone', 'ioctl', 'socket', 'personality'] as const;
    const named = [...REFUSED_CALLS, ...MISSING_CALLS, ...special].map((call) =>
      systemCallNumber(call, processor),
    );
    expect(allowed.filter((number) => named.includes(number))).toEqual([]);
    for (let number = 0; number < 600; number += 1) {
      if (named.includes(number)) continue;
      const answer = allowed.includes(number) ? ALLOW : ENOSYS;
      expect({ number, answer: judge(processor, { number, architecture }) }).toEqual({ number, answer });
    }
  });

  it('lets the Agent Server alone make a place for its tools', () => {
    for (const call of PLACE_CALLS) {
      const number = systemCallNumber(call, processor) ?? -1;
      expect(judge(processor, { number, architecture }, 'server')).toBe(ALLOW);
    }
    const clone = { number: systemCallNumber('clone', processor) ?? -1, architecture, args: [0x10000011] };
    expect([judge(processor, clone), judge(processor, clone, 'server')]).toEqual([EPERM, ALLOW]);
    const trace = { number: systemCallNumber('ptrace', processor) ?? -1, architecture };
    expect(judge(processor, trace, 'server')).toBe(EPERM);
  });

  it.each([
    [0, ALLOW],
    [0x40000, ALLOW],
    [0xffffffff, ALLOW],
    [0x0400000, EPERM],
  ])('answers the personality %d', (personality, answer) =>
    expect(on('personality', personality)).toBe(answer),
  );

  it('kills what speaks another convention', () => {
    expect(judge(processor, { number: 1, architecture: 0x40000003 })).toBe(KILL);
  });

  it('is what the kernel takes: whole instructions, none too far', () => {
    const bytes = sandboxFilter(processor);
    expect((bytes?.length ?? 1) % 8).toBe(0);
    expect(bytes?.length).toBe(8 * sandboxProgram(processor).length);
  });
});

describe('the filter', () => {
  it('answers the other numbers of x64 as not there', () => {
    const architecture = AUDIT_ARCHITECTURES.x64;
    expect(judge('x64', { number: 0x40000000 + 101, architecture })).toBe(ENOSYS);
  });

  it('does not exist for a processor that nobody wrote it for', () => {
    expect(sandboxFilter('ia32')).toBeNull();
    expect(guardObject('ia32')).toBeNull();
    expect([...(guardObject('arm64') ?? []).slice(0, 4)]).toEqual([0x7f, 0x45, 0x4c, 0x46]);
  });

  it('is refused while it is made when a jump is too far', () => {
    const body = Array.from({ length: 300 }, allow);
    expect(() => encode(when('equal', 1, body))).toThrow(RangeError);
    expect(encode(unlessOneOf([1, 2], [refuse(1)]))).toHaveLength(24);
  });
});
