/**
 * The Agent Server's compiled code: kept beside it by the build, bound in, taken when it fits and left alone when it does not.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { COMPILED_SUFFIX, compile, keptCode } from '../../runtimes/process/inside/compiled-code.ts';
import { INSIDE, compiledAgent } from '../../runtimes/on-host/inside-view.ts';
import { sandboxArguments } from '../../runtimes/process/bwrap-arguments.ts';

const BUILT = resolve('dist/agent-server.cjs');
const PROGRAM = `
const { strict } = require('node:assert');
strict(require.main === module && __filename === process.argv[1]);
const { basename } = require('node:path');
console.log(basename(__filename), new Error().stack.includes(__filename));
`;

let folder: string;
let file: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-compiled-')));
  file = join(folder, 'program.cjs');
  writeFileSync(file, PROGRAM);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the program prints when it is run as a sandbox runs its Agent Server. */
function printed(): string {
  const init = resolve('dist/sandbox-init.cjs');
  const script = `exec "$0" "$1" --agent -- "$2" 3</dev/null`;
  return execFileSync('/bin/sh', ['-c', script, process.execPath, init, file], { encoding: 'utf8' });
}

function keep(text: string): void {
  const program = Buffer.from(text);
  writeFileSync(`${file}${COMPILED_SUFFIX}`, keptCode(program, compile(file, program)));
}

test('a program runs alike without its code, with it, with that of another program, and with half of it', () => {
  const plain = printed();
  expect(plain).toBe('program.cjs true\n');
  keep(PROGRAM);
  const whole = readFileSync(`${file}${COMPILED_SUFFIX}`);
  expect(printed()).toBe(plain);
  // As long as the program itself: V8 checks nothing but the length.
  keep(PROGRAM.replace('program', 'prograM').replace('basename(', 'toString('));
  expect(printed()).toBe(plain);
  writeFileSync(`${file}${COMPILED_SUFFIX}`, whole.subarray(0, 200));
  expect(printed()).toBe(plain);
  writeFileSync(`${file}${COMPILED_SUFFIX}`, '');
  expect(printed()).toBe(plain);
});

test('the build keeps the code of the Agent Server, and V8 takes it', () => {
  const kept = readFileSync(`${BUILT}${COMPILED_SUFFIX}`);
  const program = readFileSync(BUILT);
  expect(compile(BUILT, program, kept.subarray(32)).cachedDataRejected).toBe(false);
  // Node.js 20 would end with an error where kept code asks for a module.
  expect(program.toString('utf8')).not.toMatch(/^[^*/]*[^\w.$]import\(/m);
});

test('V8 refuses the code where its flags are others', () => {
  keep(PROGRAM);
  const script = `
    const vm = require('node:vm'), fs = require('node:fs');
    const cachedData = fs.readFileSync(process.argv[1] + '${COMPILED_SUFFIX}').subarray(32);
    const source = require('node:module').wrap(fs.readFileSync(process.argv[1], 'utf8'));
    console.log(new vm.Script(source, { cachedData }).cachedDataRejected);
  `;
  const run = (flags: readonly string[]): string =>
    spawnSync(process.execPath, [...flags, '-e', script, file], { encoding: 'utf8' }).stdout;
  expect(run([])).toBe('false\n');
  expect(run(['--no-lazy'])).toBe('true\n');
});

test('a namespace sees the code beside the program, when there is any', () => {
  const argumentsFor = (agentServer: string): string =>
    sandboxArguments(
      {
        nodeBinds: [],
        programs: { agentServer, sandboxInit: '/i' },
        hostSockets: { proxy: '/h/p/s', webhook: '/h/w/s', git: '/h/g/s' },
        egressSocket: null,
        authorities: null,
        guard: null,
        toolFilter: null,
        seals: { disablesUserns: true, filters: true, nests: false },
        memoryBytes: null,
      },
      { workspace: '/w', agent: '/a', home: '/o', etc: '/e', socketDir: '/s', socket: '/s/s' } as never,
    ).join(' ');
  const alone = join(folder, 'alone.cjs');
  copyFileSync(file, alone);
  expect(compiledAgent(alone)).toBeNull();
  expect(argumentsFor(alone)).not.toContain(COMPILED_SUFFIX);
  expect(argumentsFor(BUILT)).toContain(`--ro-bind ${BUILT}${COMPILED_SUFFIX} ${INSIDE.compiledAgent}`);
});
