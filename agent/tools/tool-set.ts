/**
 * The tools of one conversation. Owns which there are, by the names a request may give.
 */
import { z } from 'zod';
import type { ConversationEvent } from '../conversation/event.ts';
import type { McpServers } from '../mcp/mcp-servers.ts';
import type { McpTools } from '../mcp/mcp-tools.ts';
import { makeFileEditorTool } from './file-editor.ts';
import { makeFinishTool } from './finish.ts';
import { makeTaskTrackerTool, restoreTasks } from './task-tracker.ts';
import { makeTerminalTool } from './terminal.ts';
import { type Tool, type ToolSurroundings, defineTool } from './tool.ts';

/** Names as they go over the wire. */
export const TOOL_NAMES = ['terminal', 'file_editor', 'task_tracker', 'finish', 'think'] as const;
type ToolName = (typeof TOOL_NAMES)[number];

const ALWAYS: readonly ToolName[] = ['finish', 'think'];
const SELECTABLE: readonly ToolName[] = ['terminal', 'file_editor', 'task_tracker'];

export interface ToolSet {
  /** Those of tool servers are there once they are connected. */
  readonly tools: readonly Tool[];
  /** Connects tool servers. @throws McpConnectionError */
  prepare(): Promise<void>;
  /** Other values for the same tool servers. */
  arm(servers: McpServers): void;
  get(name: string): Tool | null;
  close(): void;
}

/** The tools a request selects; all of them when it names none. Finish and think are always there. */
export function makeToolSet(
  selected: readonly string[],
  around: ToolSurroundings,
  given: { readonly events: readonly ConversationEvent[]; readonly external: McpTools },
): ToolSet {
  const { events, external } = given;
  const wanted = selected.map(wireName);
  const names = [
    ...(wanted.length === 0 ? SELECTABLE : SELECTABLE.filter((name) => wanted.includes(name))),
    ...ALWAYS,
  ];
  const tools = names.map((name) => makeTool(name, around, events));
  // Our own come first: a tool server cannot put itself in the place of one.
  const all = (): readonly Tool[] => [...tools, ...external.tools.filter(({ name }) => !isOwn(name))];
  return {
    get tools() {
      return all();
    },
    prepare: () => external.connect(),
    arm: (servers) => external.arm(servers),
    get: (name) => all().find((tool) => tool.name === name) ?? null,
    close: () => {
      external.close();
      tools.forEach((tool) => tool.close());
    },
  };
}

function isOwn(name: string): boolean {
  return TOOL_NAMES.some((own) => own === name);
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

/** The tool that lets a model write down a thought. Changes nothing. */
function makeThinkTool(): Tool {
  return defineTool({
    name: 'think',
    title: 'Think',
    kindStem: 'Think',
    description:
      'Writes down a thought. Use it to weigh options or to plan; it changes nothing and reads nothing.',
    schema: z.object({ thought: z.string().describe('The thought.') }),
    needsNoConfirmation: true,
    run: () => Promise.resolve({ text: 'Your thought has been logged.', isError: false }),
  });
}
