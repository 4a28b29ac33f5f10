/** Tests what `npm test` and the build rest on: counting tests, the lock between processes, seeing a changed source. */
import { mkdirSync, readFileSync, utimesSync, writeFileSync, existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { withLock } from '../../scripts/lock.js';
import { packagesToUse } from '../../scripts/packages-to-use.js';
import { isFresh, listSources, statSources } from '../../scripts/sources.js';
import { realTests } from '../../scripts/real-tests.js';
import { runNetworkStep } from '../../scripts/run-quietly.js';
import { countTests, failedFiles, mergeTries, slowestFiles } from '../../scripts/test-report.js';
import { seedsOf } from '../helpers/seeds.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

interface FakeFile {
  readonly status: 'passed' | 'failed';
  readonly message?: string;
  readonly tests: Readonly<Record<string, 'passed' | 'failed' | 'pending'>>;
}

function report(...files: readonly FakeFile[]): string {
  const testResults = files.map((file, index) => ({
    name: `test/${index}.test.ts`,
    status: file.status,
    message: file.message ?? '',
    assertionResults: Object.entries(file.tests).map(([fullName, status]) => ({
      fullName,
      status,
      failureMessages: status === 'failed' ? [`Error: of ${fullName}\nat x`] : [],
    })),
  }));
  return JSON.stringify({ testResults });
}

describe('countTests()', () => {
  const base = { skipsText: '', exitCode: 0, strict: false, filtered: false };

  it('counts tests', () => {
    const reportText = report({ status: 'failed', tests: { a: 'passed', b: 'failed', c: 'passed' } });
    expect(countTests({ ...base, reportText, exitCode: 1 })).toEqual({
      passed: 2,
      failed: 1,
      skipped: [],
      problems: ['test/0.test.ts > b: Error: of b'],
    });
  });

  it('says of a test that ran into its time limit that it did', () => {
    const ran = JSON.parse(report({ status: 'failed', tests: { slow: 'failed' } })) as {
      testResults: { assertionResults: { failureMessages: string[] }[] }[];
    };
    const [test] = ran.testResults[0]?.assertionResults ?? [];
    if (test !== undefined) test.failureMessages = ['Error: STACK_TRACE_ERROR\n    at task (runner.js:1:1)'];
    const { problems } = countTests({ ...base, reportText: JSON.stringify(ran), exitCode: 1 });
    expect(problems).toEqual(['test/0.test.ts > slow: took longer than it may']);
  });

  it('counts a file that could not be loaded as one failure', () => {
    const reportText = report({ status: 'failed', message: 'no such module\nat x', tests: {} });
    expect(countTests({ ...base, reportText, exitCode: 1 })).toEqual({
      passed: 0,
      failed: 1,
      skipped: [],
      problems: ['test/0.test.ts: no such module'],
    });
  });

  it('fails when the runner failed for a reason that no test shows, or left no report', () => {
    const reportText = report({ status: 'passed', tests: { a: 'passed' } });
    expect(countTests({ ...base, reportText, exitCode: 1 }).failed).toBe(1);
    expect(countTests({ ...base, reportText: null, exitCode: 1 }).problems).toEqual([
      'vitest ended with 1 and no report',
    ]);
  });

  it('names what was skipped with its reason, and fails on it under CI', () => {
    const reportText = report({
      status: 'passed',
      tests: { 'docker runtime starts': 'pending', a: 'passed' },
    });
    const skipsText = '{"tool":"docker","name":"docker runtime","reason":"docker is not installed"}\n';
    const input = { ...base, reportText, skipsText };
    expect(countTests(input)).toMatchObject({
      passed: 1,
      failed: 0,
      skipped: ['1 of "docker runtime" (docker is not installed)'],
    });
    expect(countTests({ ...input, strict: true }).failed).toBe(1);
    expect(countTests({ ...input, strict: true, filtered: true }).failed).toBe(0);
    const optional = skipsText.replace('}', ',"isOptional":true}');
    expect(countTests({ ...input, skipsText: optional, strict: true })).toMatchObject({
      failed: 0,
      problems: [],
      skipped: ['1 of "docker runtime" (docker is not installed)'],
    });
  });
});

describe('a second try', () => {
  const first = report(
    { status: 'passed', tests: { z: 'passed' } },
    { status: 'failed', tests: { a: 'passed', race: 'failed', broken: 'failed' } },
    { status: 'failed', message: 'no server\nat x', tests: {} },
  );
  const again = (tests: FakeFile['tests'], status: FakeFile['status'] = 'passed'): string =>
    report({ status: 'passed', tests: {} }, { status, tests }, { status: 'passed', tests: { c: 'passed' } });

  it('is of the files in which something failed', () => {
    expect(failedFiles(first)).toEqual(['test/1.test.ts', 'test/2.test.ts']);
  });

  it('makes a test flaky that passes then, and leaves one failed that fails again', () => {
    const second = again({ a: 'failed', race: 'passed', broken: 'failed' }, 'failed');
    const { reportText, flaky } = mergeTries(first, second);
    expect(flaky).toEqual([
      { file: 'test/1.test.ts', title: 'race', reason: 'Error: of race' },
      { file: 'test/2.test.ts', title: 'the whole file', reason: 'no server' },
    ]);
    const counts = countTests({ skipsText: '', exitCode: 1, strict: true, filtered: false, reportText });
    expect(counts).toEqual({
      passed: 4,
      failed: 1,
      skipped: [],
      problems: ['test/1.test.ts > broken: Error: of broken'],
    });
  });

  it('leaves nothing failed when all of it passes then', () => {
    const { reportText } = mergeTries(first, again({ a: 'passed', race: 'passed', broken: 'passed' }));
    expect(failedFiles(reportText)).toEqual([]);
  });

  it('is no help to a file that does not load again', () => {
    const second = report({ status: 'passed', tests: {} }, { status: 'failed', message: 'gone', tests: {} });
    expect(failedFiles(mergeTries(first, second).reportText)).toEqual(['test/1.test.ts', 'test/2.test.ts']);
  });

  it('is for files that start programs, themselves or by what they use', () => {
    const real = realTests(ROOT);
    expect(real).toContain('test/engine/killed-process.test.ts');
    expect(real).toContain('test/activities/conversations.test.ts');
    expect(real).not.toContain('test/core/place.test.ts');
    expect(real).not.toContain('test/conformance/race.test.ts');
  });
});

describe('slowestFiles()', () => {
  it('names them with their seconds, the slowest first', () => {
    const testResults = [
      { name: 'a', startTime: 1_000, endTime: 2_500 },
      { name: 'b', startTime: 0, endTime: 12_340 },
    ];
    expect(slowestFiles(JSON.stringify({ testResults }))).toEqual(['  12.3 s  b', '   1.5 s  a']);
  });
});

describe('runNetworkStep()', () => {
  const attempt = (limit: number): Promise<void> => {
    const file = path.join(tempDir(), 'tries');
    writeFileSync(file, '');
    const script = `const fs = require('node:fs'); fs.appendFileSync(process.argv[1], 'x');
      if (fs.readFileSync(process.argv[1], 'utf8').length < ${limit}) { console.error('reset by peer'); process.exit(7); }`;
    return runNetworkStep('go install x', process.execPath, ['-e', script, file], { pauseMs: 1 });
  };

  it('asks again after a hiccup', async () => {
    await expect(attempt(3)).resolves.toBeUndefined();
  });

  it('says which step failed for good, and with what', async () => {
    await expect(attempt(4)).rejects.toThrow(/^go install x failed 3 times: .* exit code 7: reset by peer$/);
  });
});

describe('test/seeds.json', () => {
  it('lists each seed on a line of its own, with what it found', () => {
    const text = readFileSync(path.join(ROOT, 'test/seeds.json'), 'utf8');
    const lines = JSON.parse(text) as readonly object[];
    expect(text.trimEnd().split('\n')).toHaveLength(lines.length + 2);
    for (const line of lines) {
      expect(Object.keys(line)).toEqual(['play', 'seed', 'count', 'found']);
      expect(line).toMatchObject({ seed: expect.any(Number), count: expect.any(Number) });
    }
  });

  it('is what tests play, unless somebody explores', () => {
    expect(seedsOf('killed-engine')).toEqual({ seed: 1, count: 3 });
    expect(() => seedsOf('nothing')).toThrow('test/seeds.json does not list it');
    vi.stubEnv('PARLEY_SEED', '4711');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(seedsOf('killed-engine')).toEqual({ seed: 4711, count: 3 });
    vi.stubEnv('PARLEY_SEED', 'x');
    expect(() => seedsOf('killed-engine')).toThrow('PARLEY_SEED is no whole number');
  });
});

describe('withLock()', () => {
  it('holds the lock while it works, and gives it back after an error', async () => {
    const file = path.join(tempDir(), 'lock');
    expect(withLock(file, () => readFileSync(file, 'utf8'))).toBe(String(process.pid));
    expect(existsSync(file)).toBe(false);
    expect(() =>
      withLock(file, () => {
        throw new Error('broken');
      }),
    ).toThrow('broken');
    expect(existsSync(file)).toBe(false);
    await withLock(file, async () => {
      await Promise.resolve();
      expect(existsSync(file)).toBe(true);
    });
    expect(existsSync(file)).toBe(false);
  });

  it('takes over the lock of a process that is dead', () => {
    const file = path.join(tempDir(), 'lock');
    // Above the largest process id that Linux or macOS gives out.
    writeFileSync(file, '99999999');
    expect(withLock(file, () => 'mine')).toBe('mine');
  });
});

describe('sources', () => {
  function checkout(): string {
    const root = tempDir();
    for (const folder of ['core', 'dist', 'scripts', 'docs']) mkdirSync(path.join(root, folder));
    for (const file of [
      'package.json',
      'package-lock.json',
      'scripts/build.js',
      'scripts/build-web.js',
      'scripts/bundle.js',
      'scripts/keep-compiled.js',
      'scripts/sources.js',
      'core/a.ts',
    ]) {
      writeFileSync(path.join(root, file), file);
    }
    return root;
  }

  it('see a change, a touch and a new file', () => {
    const root = checkout();
    const before = statSources(root);
    expect(listSources(root)).toContain('core/a.ts');
    utimesSync(path.join(root, 'core/a.ts'), 1, 1);
    const touched = statSources(root);
    expect(touched).not.toBe(before);
    writeFileSync(path.join(root, 'core/b.ts'), 'new');
    expect(statSources(root)).not.toBe(touched);
  });

  it('do not see files that no program is made of', () => {
    const root = checkout();
    const before = statSources(root);
    writeFileSync(path.join(root, 'docs/a.md'), 'new');
    expect(statSources(root)).toBe(before);
  });

  it('are fresh when the last build saw the same files', () => {
    const root = checkout();
    expect(isFresh(root)).toBe(false);
    writeFileSync(path.join(root, 'dist/.build-stats'), statSources(root));
    expect(isFresh(root)).toBe(true);
    writeFileSync(path.join(root, 'core/a.ts'), 'changed, and longer');
    expect(isFresh(root)).toBe(false);
  });
});

describe('the packages that a user needs', () => {
  const read = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8');
  const { manifest, lock } = packagesToUse(read('package.json'), read('package-lock.json'));
  const wanted = JSON.parse(manifest) as { dependencies: Record<string, string>; overrides: object };

  it('are those of an installation and the bundler, in the same versions', () => {
    const own = JSON.parse(read('package.json')) as typeof wanted & {
      devDependencies: typeof wanted.dependencies;
    };
    const { esbuild, ...others } = wanted.dependencies;
    expect(esbuild).toBe(own.devDependencies['esbuild']);
    expect([others, wanted.overrides]).toEqual([own.dependencies, own.overrides]);
  });

  it('come from the places and with the checksums of the lock file, whose root asks for no others', () => {
    const { '': root, ...packages } = (JSON.parse(lock) as Lock).packages;
    const { '': _, ...locked } = (JSON.parse(read('package-lock.json')) as Lock).packages;
    expect(packages).toEqual(locked);
    expect(root?.dependencies).toEqual(wanted.dependencies);
    expect(Object.keys(root ?? {}).filter((key) => /^(dev|peer|optional)Dep/.test(key))).toEqual([]);
  });
});

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dependencies?: Readonly<Record<string, string>> }>>;
}
