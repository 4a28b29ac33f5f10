/**
 * The tool that ends a run with an account of what was done.
 */
import { z } from 'zod';

import { defineTool, type Tool } from './tool.ts';

export const FINISH_TOOL_NAME = 'finish';

export function makeFinishTool(): Tool {
  return defineTool({
    name: FINISH_TOOL_NAME,
    title: 'Finish',
    kindStem: 'Finish',
    description: 'Ends the task. Call it once the task is done, or when you cannot go on and say why.',
    schema: z.object({
      message: z.string().describe('What was done, what was checked, and what is left open.'),
    }),
    needsNoConfirmation: true,
    run: ({ message }) => Promise.resolve({ text: message, isError: false }),
  });
}
