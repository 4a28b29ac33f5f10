/**
 * The agent's own task list. Owns the list in memory; after a restart it is read back from the log.
 */
import { z } from 'zod';

import type { ConversationEvent } from '../conversation/event.ts';
import { TASKS_MAX } from '../limits.ts';
import { defineTool, type Tool } from './tool.ts';

const taskSchema = z.object({
  title: z.string().describe('What is to be done.'),
  notes: z.string().default('').describe('Details worth keeping.'),
  status: z.enum(['todo', 'in_progress', 'done']).default('todo'),
});
const taskListSchema = z.array(taskSchema).max(TASKS_MAX);
export type Task = z.infer<typeof taskSchema>;

const MARKS = { todo: ' ', in_progress: '~', done: 'x' } as const;

export function makeTaskTrackerTool(restored: readonly Task[]): Tool {
  let tasks: readonly Task[] = restored;
  return defineTool({
    name: 'task_tracker',
    title: 'Task tracker',
    kindStem: 'TaskTracker',
    description: 'Keeps the task list of this conversation. "view" shows it; "plan" replaces it as a whole.',
    schema: z.object({
      command: z.enum(['view', 'plan']).default('view'),
      task_list: taskListSchema.default([]).describe('The whole new list; only for "plan".'),
    }),
    run: ({ command, task_list: planned }) => {
      if (command === 'plan') tasks = planned;
      return Promise.resolve({
        text: describe(tasks),
        isError: false,
        fields: { command, task_list: tasks },
      });
    },
  });
}

function describe(tasks: readonly Task[]): string {
  if (tasks.length === 0) return 'The task list is empty.';
  const lines = tasks.map(({ title, notes, status }, index) => {
    return `${index + 1}. [${MARKS[status]}] ${title}${notes === '' ? '' : `\n   ${notes}`}`;
  });
  return lines.join('\n');
}

/** The task list as the log last saw it. */
export function restoreTasks(events: readonly ConversationEvent[]): Task[] {
  const lists = events.flatMap((event) => {
    if (event.kind !== 'ObservationEvent' || event.observation.kind !== 'TaskTrackerObservation') return [];
    const parsed = taskListSchema.safeParse(event.observation['task_list']);
    return parsed.success ? [parsed.data] : [];
  });
  return lists.at(-1) ?? [];
}
