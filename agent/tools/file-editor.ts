/**
 * The tool that views and edits text files. Owns the five commands and the undo steps, which live in memory only.
 */
import { z } from 'zod';

import { EDITOR_EVENT_CONTENT_CHARS_MAX, EDITOR_UNDO_FILES_MAX, EDITOR_UNDO_STEPS_MAX } from '../limits.ts';
import { messageOf } from '../serve/log.ts';
import { removeReachable } from '../tool-files.ts';
import {
  EditorRefusal,
  describeDirectory,
  kindOfPath,
  numberedLines,
  readTextFile,
  writeTextFile,
} from './text-file.ts';
import { insertedText, replacedText, type TextEdit } from './text-edit.ts';
import { defineTool, type Tool, type ToolResult, type ToolSurroundings } from './tool.ts';

const DESCRIPTION = `Views, creates and edits text files. Paths are absolute.
- view: shows a file with line numbers, or a directory two levels deep. view_range [first, last] limits it; last -1 means the end.
- create: writes a new file from file_text; an existing file is refused.
- str_replace: replaces old_str, which must occur exactly once, with new_str. Give enough lines around it to make it unique.
- insert: puts new_str after line insert_line; 0 means the start of the file.
- undo_edit: takes back the last edit of the file.`;

const schema = z.object({
  command: z.enum(['view', 'create', 'str_replace', 'insert', 'undo_edit']),
  path: z.string().min(1).describe('Absolute path of the file or directory.'),
  file_text: z.string().nullish().describe('Content of the new file; for create.'),
  old_str: z
    .string()
    .nullish()
    .describe('Text to replace, exactly as it stands in the file; for str_replace.'),
  new_str: z.string().nullish().describe('The new text; for str_replace and insert.'),
  insert_line: z.number().int().min(0).nullish().describe('Line after which new_str goes; for insert.'),
  view_range: z
    .array(z.number().int())
    .length(2)
    .nullish()
    .describe('First and last line to show; for view.'),
});
type EditorArguments = z.output<typeof schema>;

/** Content before an edit; null when the edit made the file. */
type UndoStep = string | null;

export function makeFileEditorTool(around: ToolSurroundings): Tool {
  const undoSteps = new Map<string, UndoStep[]>();
  return defineTool({
    name: 'file_editor',
    title: 'File editor',
    kindStem: 'FileEditor',
    description: DESCRIPTION,
    schema,
    run: async (args) => {
      const fields = { command: args.command, path: args.path };
      try {
        const result = await runCommand(args, around, undoSteps);
        return { ...result, fields: { ...fields, ...result.fields } };
      } catch (error) {
        // A refused permission or a full disk is for the model to see as well; nothing of ours is broken by it.
        const text =
          error instanceof EditorRefusal ? error.message : `Cannot ${args.command} file: ${messageOf(error)}`;
        return { text, isError: true, fields };
      }
    },
  });
}

async function runCommand(
  args: EditorArguments,
  around: ToolSurroundings,
  undoSteps: Map<string, UndoStep[]>,
): Promise<ToolResult> {
  const { path } = args;
  switch (args.command) {
    case 'view':
      return await view(args, around);
    case 'create':
      return await create(args, around, undoSteps);
    case 'str_replace':
    case 'insert': {
      const before = await readTextFile(path, around.workingDir);
      const edit = args.command === 'insert' ? insertedText(before, args) : replacedText(before, args);
      await writeTextFile(path, edit.text);
      rememberStep(undoSteps, path, before);
      return edited(path, before, edit);
    }
    case 'undo_edit':
      return await undo(path, around, undoSteps);
    default:
      return args.command satisfies never;
  }
}

async function view(
  { path, view_range: range }: EditorArguments,
  around: ToolSurroundings,
): Promise<ToolResult> {
  if ((await kindOfPath(path, around.workingDir)) === 'directory') {
    if (range) throw new EditorRefusal('view_range is for files only.');
    return { text: await describeDirectory(path), isError: false, fields: { prev_exist: true } };
  }
  const lines = linesOf(around.mask(await readTextFile(path, around.workingDir)));
  const [first, last] = checkedRange(range ?? [1, -1], lines.length);
  const text = `${path}, lines ${first} to ${last} of ${lines.length}:\n${numberedLines(lines.slice(first - 1, last), first)}`;
  return { text, isError: false, fields: { prev_exist: true } };
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  return lines.length > 1 && lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

function checkedRange(range: readonly number[], lineCount: number): [number, number] {
  const [first = 1, asked = -1] = range;
  const last = asked === -1 ? lineCount : Math.min(asked, lineCount);
  if (first < 1 || first > lineCount || last < first) {
    throw new EditorRefusal(`view_range [${first}, ${asked}] does not fit: the file has ${lineCount} lines.`);
  }
  return [first, last];
}

async function create(
  { path, file_text: text }: EditorArguments,
  around: ToolSurroundings,
  undoSteps: Map<string, UndoStep[]>,
): Promise<ToolResult> {
  if (typeof text !== 'string') throw new EditorRefusal('create needs file_text.');
  if ((await kindOfPath(path, around.workingDir)) !== 'missing') {
    throw new EditorRefusal(
      `The path ${path} exists already. Use str_replace or insert, or remove it first.`,
    );
  }
  await writeTextFile(path, text);
  rememberStep(undoSteps, path, null);
  return {
    text: `Created ${path}.`,
    isError: false,
    fields: { prev_exist: false, ...contentField('new_content', text) },
  };
}

async function undo(
  path: string,
  around: ToolSurroundings,
  undoSteps: Map<string, UndoStep[]>,
): Promise<ToolResult> {
  const step = undoSteps.get(path)?.pop();
  if (step === undefined) throw new EditorRefusal(`There is no edit of ${path} to take back.`);
  if (step === null) {
    await removeReachable(path);
    return { text: `Took back the creation of ${path}: the file is removed.`, isError: false };
  }
  const before =
    (await kindOfPath(path, around.workingDir)) === 'file' ? await readTextFile(path, around.workingDir) : '';
  await writeTextFile(path, step);
  const fields = {
    prev_exist: true,
    ...contentField('old_content', before),
    ...contentField('new_content', step),
  };
  return { text: `Took back the last edit of ${path}.`, isError: false, fields };
}

function edited(path: string, before: string, edit: TextEdit): ToolResult {
  const excerpt = numberedLines(linesOf(edit.text).slice(edit.firstLine - 1, edit.lastLine), edit.firstLine);
  return {
    text: `Edited ${path}. Lines ${edit.firstLine} to ${edit.lastLine} now read:\n${excerpt}\nCheck that they are as intended.`,
    isError: false,
    fields: {
      prev_exist: true,
      ...contentField('old_content', before),
      ...contentField('new_content', edit.text),
    },
  };
}

function contentField(name: 'old_content' | 'new_content', text: string): Record<string, string> {
  return text.length <= EDITOR_EVENT_CONTENT_CHARS_MAX ? { [name]: text } : {};
}

function rememberStep(undoSteps: Map<string, UndoStep[]>, path: string, step: UndoStep): void {
  const steps = [...(undoSteps.get(path) ?? []), step].slice(-EDITOR_UNDO_STEPS_MAX);
  // Re-inserted, so that the file edited longest ago is the first to be forgotten.
  undoSteps.delete(path);
  undoSteps.set(path, steps);
  const [oldest] = undoSteps.keys();
  if (undoSteps.size > EDITOR_UNDO_FILES_MAX && oldest !== undefined) undoSteps.delete(oldest);
}
