/**
 * The tools of one conversation. Owns which there are, by the names a request may give.
 */
import type { ConversationEvent } from '../event.ts';
import { makeFileEditorTool } from './file-editor.ts';
import { makeFinishTool } from './finish.ts';
import { makeTaskTrackerTool, restoreTasks } from './task-tracker.ts';
import { makeTerminalTool } from './terminal.ts';
import { makeThinkTool } from './think.ts';
import type { Tool, ToolSurroundings } from './tool.ts';

/** Names as they go over the wire. */
export const TOOL_NAMES = ['terminal', 'file_editor', 'task_tracker', 'finish', 'think'] as const;
type ToolName = (typeof TOOL_NAMES)[number];

const ALWAYS: readonly ToolName[] = ['finish', 'think'];
const SELECTABLE: readonly ToolName[] = ['terminal', 'file_editor', 'task_tracker'];

export interface ToolSet {
  readonly tools: readonly Tool[];
  get(name: string): Tool | null;
  close(): void;
}

/** The tools a request selects; all of them when it names none. Finish and think are always there. */
export function makeToolSet(
  selected: readonly string[],
  around: ToolSurroundings,
  events: readonly ConversationEvent[],
): ToolSet {
  const wanted = selected.map(wireName);
  const names = [
    ...(wanted.length === 0 ? SELECTABLE : SELECTABLE.filter((name) => wanted.includes(name))),
    ...ALWAYS,
  ];
  const tools = names.map((name) => makeTool(name, around, events));
  return {
    tools,
    get: (name) => tools.find((tool) => tool.name === name) ?? null,
    close: () => tools.forEach((tool) => tool.close()),
  };
}

/** Clients name a tool `terminal` or by its class, `TerminalTool`. */
export function wireName(name: string): string {
  return name
    .replace(/Tool$/, '')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase();
}

function makeTool(name: ToolName, around: ToolSurroundings, events: readonly ConversationEvent[]): Tool {
  switch (name) {
    case 'terminal':
      return makeTerminalTool(around);
    case 'file_editor':
      return makeFileEditorTool(around);
    case 'task_tracker':
      return makeTaskTrackerTool(restoreTasks(events));
    case 'finish':
      return makeFinishTool();
    case 'think':
      return makeThinkTool();
    default:
      return name satisfies never;
  }
}
