/** `parley open`: which page it is, where it is written, and what happens where nothing opens pages. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../cli/program.ts';
import { openAddress, openerOf } from '../../cli/process-shell.ts';
import { createResultsDirectory } from '../../store/blobs/results-directory.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeHost } from './fake-host.ts';
import { fakeShell, recordsOf, until } from './fake-shell.ts';
import { demoPlan, FINISHED, itemRow, JOB, RUN, runRow, SUCCEEDED } from './rows.ts';

function setUp({ job = JOB, hasBrowser = true, row = runRow(FINISHED) } = {}) {
  const cwd = tempDir();
  const results = path.join(cwd, 'out', RUN);
  writeFileSync(path.join(cwd, 'parley.yaml'), 'store: { path: . }\n');
  writeFileSync(path.join(cwd, 'parley.db'), '');
  const host = fakeHost({ rows: { row, items: [itemRow('first', SUCCEEDED)] }, plan: demoPlan(job) });
  const openReader: typeof host.openReader = async (config) => {
    const reader = await host.openReader(config);
    return reader && { ...reader, results: createResultsDirectory(path.join(cwd, 'out')) };
  };
  const shell = fakeShell({ cwd, host: { ...host, openReader }, hasBrowser });
  return { results, shell, open: (...args: readonly string[]) => runCli(['open', 'last', ...args], shell) };
}

const ASKS = JOB.replace('report.md', 'all.html');

describe('parley open', () => {
  it('opens the page that the run wrote, and leaves it as it is', async () => {
    const { results, shell, open } = setUp({ job: ASKS });
    const file = path.join(results, 'all.html');
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, 'as it was');
    expect(await open()).toBe(0);
    expect(shell.stdout.text).toBe(`${file}\n`);
    expect(shell.opened).toEqual([pathToFileURL(file).href]);
    expect(readFileSync(file, 'utf8')).toBe('as it was');
  });

  it('writes one where the job asks for none, and one that is missing', async () => {
    for (const [job, name] of [
      [JOB, 'report.html'],
      [ASKS, 'all.html'],
    ] as const) {
      const { results, open } = setUp({ job });
      expect(await open()).toBe(0);
      expect(readFileSync(path.join(results, name), 'utf8')).toBe(`html of ${RUN}\n`);
    }
  });

  it('writes it anew while the run goes on', async () => {
    const { results, open } = setUp({ job: ASKS, row: runRow() });
    const file = path.join(results, 'all.html');
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, 'of an hour ago');
    expect(await open()).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(`html of ${RUN}\n`);
  });

  it('only prints with --print, and prints where nothing opens a page', async () => {
    const printed = setUp();
    expect(await printed.open('--print')).toBe(0);
    expect(printed.shell.opened).toEqual([]);
    expect(printed.shell.stderr.text).toBe('');
    const blind = setUp({ hasBrowser: false });
    expect(await blind.open('--json')).toBe(0);
    const file = path.join(blind.results, 'report.html');
    expect(recordsOf(blind.shell)[1]).toMatchObject({ type: 'opened', run_id: RUN, file, opened: false });
    expect(blind.shell.stderr.text).toContain('nothing here opens a page');
  });

  it('refuses a run that is not there, and says when it cannot write', async () => {
    const { results, shell, open } = setUp();
    expect(await runCli(['open', 'nobody'], shell)).toBe(2);
    mkdirSync(path.dirname(results), { recursive: true });
    writeFileSync(results, 'a file');
    expect(await open()).toBe(2);
    expect(shell.stderr.text).toContain('Cannot write the report to');
    expect(shell.opened).toEqual([]);
  });
});

describe('openAddress()', () => {
  const screen = { DISPLAY: ':0' };

  it('takes the program of the system, and none where nobody looks', () => {
    expect(openerOf({ platform: 'darwin', env: {} })).toEqual(['open']);
    expect(openerOf({ platform: 'win32', env: {} })).toEqual(['rundll32.exe', 'url.dll,FileProtocolHandler']);
    expect(openerOf({ platform: 'linux', env: screen })).toEqual(['xdg-open']);
    expect(openerOf({ platform: 'linux', env: {} })).toBeNull();
    expect(openerOf({ platform: 'darwin', env: { CI: 'true' } })).toBeNull();
  });

  it('hands an address over as one argument that no shell reads', async () => {
    const bin = tempDir();
    const seen = path.join(bin, 'seen');
    writeFileSync(
      path.join(bin, 'xdg-open'),
      `#!/bin/sh\nprintf '%s\\n' "$#" "$1" > "${seen}.new"\nmv "${seen}.new" "${seen}"\n`,
    );
    chmodSync(path.join(bin, 'xdg-open'), 0o755);
    const address = `file:///tmp/$(touch ${bin}/evil);\`id\` & "x" '.html`;
    const env = { ...screen, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
    expect(await openAddress(address, { platform: 'linux', env })).toBe(true);
    await until(() => existsSync(seen));
    expect(readFileSync(seen, 'utf8')).toBe(`1\n${address}\n`);
    expect(existsSync(path.join(bin, 'evil'))).toBe(false);
  });

  it('says when there is no such program, or it could not', async () => {
    const bin = tempDir();
    expect(await openAddress('file:///x', { platform: 'linux', env: { ...screen, PATH: bin } })).toBe(false);
    writeFileSync(path.join(bin, 'xdg-open'), '#!/bin/sh\nexit 3\n');
    chmodSync(path.join(bin, 'xdg-open'), 0o755);
    expect(await openAddress('file:///x', { platform: 'linux', env: { ...screen, PATH: bin } })).toBe(false);
  });
});
