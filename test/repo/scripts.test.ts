/** Tests what `npm test` and the build rest on: counting tests, the lock between processes, seeing a changed source. */
import { mkdirSync, readFileSync, utimesSync, writeFileSync, existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { withLock } from '../../scripts/lock.js';
import { isFresh, listSources, statSources } from '../../scripts/sources.js';
import { countTests } from '../../scripts/test-report.js';
import { tempDir } from '../helpers/temp-dir.ts';

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
      skipped: ['docker runtime starts (docker is not installed)'],
    });
    expect(countTests({ ...input, strict: true }).failed).toBe(1);
    expect(countTests({ ...input, strict: true, filtered: true }).failed).toBe(0);
    const optional = skipsText.replace('}', ',"isOptional":true}');
    expect(countTests({ ...input, skipsText: optional, strict: true })).toMatchObject({
      failed: 0,
      problems: [],
      skipped: ['docker runtime starts (docker is not installed)'],
    });
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
