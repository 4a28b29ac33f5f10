/**
 * The terminal with a real bash: what lasts between commands, and what no command can break.
 * Must not start a server or a model.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it, onTestFinished } from 'vitest';

import { observationText } from '../../../agent/conversation/event.ts';
import type { Observation } from '../../../agent/conversation/event.ts';
import { makeTerminalTool } from '../../../agent/tools/terminal.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

interface TestTerminal {
  readonly folder: string;
  readonly secrets: Record<string, string>;
  run(command: string, args?: Record<string, unknown>, signal?: AbortSignal): Promise<Observation>;
}

function makeTerminal(): TestTerminal {
  const folder = tempDir();
  const secrets: Record<string, string> = {};
  const tool = makeTerminalTool({
    workingDir: folder,
    secrets: () => ({ ...secrets }),
    mask: (text) => text.replaceAll('hide-me', '***'),
    nowMs: () => Date.now(),
    uuid: () => randomUUID(),
    growing: () => ({ push: () => undefined, skip: () => undefined }),
  });
  onTestFinished(() => tool.close());
  return {
    folder,
    secrets,
    run: (command, args = {}, signal = new AbortController().signal) =>
      tool.run(tool.parse({ command, ...args }), signal),
  };
}

function textOf(observation: Observation): string {
  return observationText(observation).split('\n[')[0] ?? '';
}

describe('terminal', () => {
  it('keeps directory, variables and functions, and tells exit codes', async () => {
    const { run, folder } = makeTerminal();
    await run('mkdir a && cd a && X=1 && greet() { echo "hello $1"; }');
    expect(textOf(await run('echo $X; greet you; pwd'))).toBe(`1\nhello you\n${folder}/a`);
    expect(await run('(exit 7)')).toMatchObject({ exit_code: 7, metadata: { working_dir: `${folder}/a` } });
    expect(textOf(await run('echo $?'))).toBe('7');
  });

  it('takes what commands throw at it', async () => {
    const { run, folder } = makeTerminal();
    expect(await run('if then')).toMatchObject({ exit_code: 2 });
    expect(textOf(await run("cat <<'END'\n$literal 'quoted' \\ \u00fc\nEND"))).toBe(
      "$literal 'quoted' \\ \u00fc",
    );
    expect(textOf(await run('cat; read -r line; echo "empty: [$line]"'))).toBe('empty: []');
    expect(textOf(await run('echo out; echo err >&2'))).toBe('out\nerr');
    expect(textOf(await run("printf 'no line end'; printf '\\036x y\\036'"))).toBe('no line end\x1ex y\x1e');
    await run('exec > redirected.txt; echo into the file');
    expect(readFileSync(join(folder, 'redirected.txt'), 'utf8')).toContain('into the file');
    expect(await run('echo still here')).toMatchObject({ exit_code: 0 });
    expect((await run('a\0b')).is_error).toBe(true);
  });

  it('gets a fresh shell in the same directory after one that ended', async () => {
    const { run, folder } = makeTerminal();
    const ended = await run('mkdir b; cd b; pwd; exit 3');
    expect(ended).toMatchObject({ exit_code: 3 });
    expect(observationText(ended)).toContain('The shell ended');
    expect(textOf(await run('echo back; set -e; false'))).toBe('back');
    expect(textOf(await run('pwd'))).toBe(folder);
    await run('mkdir gone; cd gone; rmdir ../gone; exit');
    expect(textOf(await run('pwd'))).toBe(folder);
  });

  it('leaves a slow command running, and reads on, refuses others, and interrupts it', async () => {
    const { run } = makeTerminal();
    const slow = await run('echo began; sleep 60; echo not reached', { timeout: 0.3 });
    expect(slow).toMatchObject({ exit_code: -1, timeout: true });
    expect(textOf(slow)).toBe('began');
    expect((await run('echo other')).is_error).toBe(true);
    expect(await run('', { timeout: 0.1 })).toMatchObject({ exit_code: -1, content: [{ text: '' }] });
    expect((await run('text', { is_input: true })).is_error).toBe(true);
    const stopped = await run('C-c', { is_input: true });
    expect(stopped['exit_code']).not.toBe(-1);
    expect((await run('')).is_error).toBe(true);
    expect(textOf(await run('echo free'))).toBe('free');
  });

  it('reads a slow command to its end', async () => {
    const { run } = makeTerminal();
    await run('echo one; sleep 0.5; echo two', { timeout: 0.1 });
    expect(await run('', { timeout: 20 })).toMatchObject({ exit_code: 0, content: [{ text: 'two' }] });
  });

  it('kills what ignores an interrupt, keeping the directory', async () => {
    const { run, folder } = makeTerminal();
    await run('mkdir c; cd c');
    const abort = new AbortController();
    const stubborn = run("trap '' INT; echo began; while true; do sleep 1; done", {}, abort.signal);
    abort.abort();
    expect(observationText(await stubborn)).toContain('interrupted by the user');
    expect(textOf(await run('pwd'))).toBe(`${folder}/c`);
  });

  it.each([
    ['a loop', 'for i in 1 2 3; do echo "at $i"; sleep 5; done; touch late', 130],
    ['a list', 'echo at; sleep 5; touch late', 130],
    ['lines', 'echo at\nsleep 5\ntouch late', 130],
    ['both ways of a choice', 'echo at; sleep 5 && touch late || touch late', 130],
    ['a pipeline', 'echo at; sleep 5 | cat; touch late', 130],
    ['a function in a loop', 'f() { echo at; sleep 5; touch late; }; while f; do touch late; done', 130],
    ['a subshell', '(echo at; sleep 5; touch late); touch late', 130],
    ['a substitution', 'echo at; x=$(sleep 5; touch late); touch late', 130],
    ['a loop without a program', 'echo at; while :; do :; done; touch late', 130],
    ['a wait', 'echo at; sleep 5 & wait; touch late', 130],
    ['a script', 'bash -c "echo at; sleep 5; touch late"; touch late', 130],
    // What a trap does is the command's own, as the shell says.
    ['a trap', '(trap "echo caught; exit 3" INT; echo at; sleep 5; touch late)', 3],
  ])('ends the whole command line at an interrupt: %s', async (_what, command, exitCode) => {
    const { run, folder } = makeTerminal();
    await run('mkdir e; cd e; KEPT=1');
    const abort = new AbortController();
    const running = run(command, { timeout: 0.2 });
    expect((await running)['exit_code']).toBe(-1);
    abort.abort();
    const stopped = await run('', {}, abort.signal);
    expect(stopped).toMatchObject({ exit_code: exitCode });
    expect(textOf(await run('echo $?; pwd; echo $KEPT; ls'))).toBe(`${exitCode}\n${folder}/e\n1`);
  });

  it('leaves what runs in the background alone at an interrupt', async () => {
    const { run } = makeTerminal();
    await run('sleep 30 & sleep 60', { timeout: 0.2 });
    expect(await run('C-c', { is_input: true })).toMatchObject({ exit_code: 130 });
    expect(textOf(await run('kill %1 && echo was there'))).toBe('was there');
  });

  it('is a shell without history, aliases, prompts and marks of its own', async () => {
    const { run } = makeTerminal();
    expect(textOf(await run('echo "hi!" !x; PS1="> "; alias ll=ls'))).toBe('hi! !x');
    expect(textOf(await run('echo one; type ll 2>&1; history | wc -l'))).toMatch(/^one\n.*not found\n0$/);
    expect(textOf(await run('echo ${nothing:?is missing}; echo more'))).toMatch(/nothing: is missing$/);
    const open = 'for fd in 5 10 255; do [ -e /proc/self/fd/$fd ] && echo "leaked $fd"; done';
    expect(textOf(await run(`echo $?; bash -c '${open}'`))).toBe('1');
  });

  it('starts anew at a reset', async () => {
    const { run, folder } = makeTerminal();
    await run('mkdir d; cd d; sleep 60', { timeout: 0.1 });
    expect(textOf(await run('pwd', { reset: true }))).toBe(folder);
  });

  it('does not wait for background processes', async () => {
    const { run } = makeTerminal();
    expect(await run('sleep 60 & echo started')).toMatchObject({ exit_code: 0 });
  });

  it('cuts long output in the middle, after masking', async () => {
    const { run } = makeTerminal();
    const long = await run('for i in $(seq 20000); do echo "hide-me $i"; done');
    const text = textOf(long);
    expect(text.length).toBeLessThan(31_000);
    expect(text).toMatch(/^\*\*\* 1\n/);
    expect(observationText(long)).toMatch(/characters were cut out[^]*\*\*\* 20000\n/);
    const huge = await run('head -c 30000000 /dev/zero | tr "\\0" x; echo end');
    expect(observationText(huge)).toMatch(/cut out[^]*xend\n/);
  });

  it('exports secrets that come or change while it is open', async () => {
    const { run, secrets } = makeTerminal();
    secrets['A'] = 'first';
    expect(textOf(await run('echo $A; bash -c "echo \\$A"'))).toBe('first\nfirst');
    secrets['A'] = "it's $HOME\nsecond";
    expect(textOf(await run('printf %s "$A"'))).toBe("it's $HOME\nsecond");
  });
});
