/**
 * The editor on real files: five commands, their refusals, and undo.
 * Must not start a server or a model.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { plainText } from '../../../agent/conversation/event.ts';
import type { Observation } from '../../../agent/conversation/event.ts';
import { makeFileEditorTool } from '../../../agent/tools/file-editor.ts';
import { ToolArgumentError } from '../../../agent/tools/tool.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

interface TestEditor {
  readonly folder: string;
  readonly path: string;
  edit(command: string, args?: Record<string, unknown>): Promise<Observation>;
  content(): string;
}

function makeEditor(content?: string | Buffer): TestEditor {
  const folder = tempDir();
  const path = join(folder, 'file.txt');
  if (content !== undefined) writeFileSync(path, content, { mode: 0o755 });
  const tool = makeFileEditorTool({
    workingDir: folder,
    secrets: () => ({}),
    mask: (text) => text,
    nowMs: () => 0,
    uuid: () => randomUUID(),
    growing: () => ({ push: () => undefined, skip: () => undefined }),
  });
  return {
    folder,
    path,
    edit: (command, args = {}) =>
      tool.run(tool.parse({ command, path, ...args }), new AbortController().signal),
    content: () => readFileSync(path, 'utf8'),
  };
}

describe('file_editor', () => {
  it('views files by lines and directories two levels deep', async () => {
    const { edit, folder } = makeEditor('one\ntwo\nthree\n');
    expect(plainText((await edit('view')).content)).toContain('     3\tthree');
    const part = plainText((await edit('view', { view_range: [2, 2] })).content);
    expect(part).toMatch(/lines 2 to 2 of 3:\n {5}2\ttwo$/);
    expect((await edit('view', { view_range: [4, -1] })).is_error).toBe(true);
    mkdirSync(join(folder, 'a/b/c'), { recursive: true });
    writeFileSync(join(folder, '.hidden'), '');
    const listing = plainText((await edit('view', { path: folder })).content);
    expect(listing).toContain('/a/b/\n');
    expect(listing).not.toContain('/a/b/c');
    expect(listing).toContain('1 hidden entries');
  });

  it('creates new files only, with their folders', async () => {
    const { edit, folder } = makeEditor();
    const path = join(folder, 'x/y.txt');
    expect((await edit('create', { path, file_text: 'new' })).is_error).toBe(false);
    expect((await edit('create', { path, file_text: 'other' })).is_error).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe('new');
    await edit('undo_edit', { path });
    expect(existsSync(path)).toBe(false);
  });

  it('replaces text that occurs exactly once', async () => {
    const { edit, content, path } = makeEditor('a\nb\na\n');
    const twice = await edit('str_replace', { old_str: 'a', new_str: 'x' });
    expect(plainText(twice.content)).toContain('2 times, on lines 1, 3');
    expect((await edit('str_replace', { old_str: 'z', new_str: 'x' })).is_error).toBe(true);
    expect((await edit('str_replace', { old_str: 'b', new_str: 'b' })).is_error).toBe(true);
    expect((await edit('str_replace', { old_str: '' })).is_error).toBe(true);
    expect(content()).toBe('a\nb\na\n');
    const done = await edit('str_replace', { old_str: 'b\n', new_str: '$& $1\n' });
    expect(done).toMatchObject({ is_error: false, old_content: 'a\nb\na\n', new_content: 'a\n$& $1\na\n' });
    expect(statSync(path).mode & 0o777).toBe(0o755);
    await edit('str_replace', { old_str: '$& $1\n' });
    expect(content()).toBe('a\na\n');
    await edit('undo_edit');
    await edit('undo_edit');
    expect(content()).toBe('a\nb\na\n');
    expect((await edit('undo_edit')).is_error).toBe(true);
  });

  it('inserts after a line, keeping line ends', async () => {
    const unix = makeEditor('one\ntwo');
    await unix.edit('insert', { insert_line: 0, new_str: 'zero' });
    await unix.edit('insert', { insert_line: 3, new_str: 'three\n' });
    expect(unix.content()).toBe('zero\none\ntwo\nthree\n');
    expect((await unix.edit('insert', { insert_line: 9, new_str: 'x' })).is_error).toBe(true);
    const windows = makeEditor('one\r\ntwo\r\n');
    await windows.edit('insert', { insert_line: 1, new_str: 'between' });
    await windows.edit('str_replace', { old_str: 'one\nbetween', new_str: 'first\nsecond' });
    expect(windows.content()).toBe('first\r\nsecond\r\ntwo\r\n');
  });

  it('refuses relative paths, missing files and what is no text', async () => {
    const { edit, folder } = makeEditor(Buffer.from([0xff, 0xfe, 0]));
    expect(plainText((await edit('view', { path: 'src/x' })).content)).toContain(join(folder, 'src/x'));
    expect(plainText((await edit('view')).content)).toContain('not UTF-8');
    expect((await edit('str_replace', { path: join(folder, 'none'), old_str: 'a' })).is_error).toBe(true);
    expect((await edit('create', { path: join(folder, 'file.txt/below'), file_text: '' })).is_error).toBe(
      true,
    );
    expect(() => edit('rename')).toThrow(ToolArgumentError);
  });
});
