/**
 * The tool that lets a model write down a thought. Changes nothing.
 */
import { z } from 'zod';

import { defineTool } from './tool.ts';
import type { Tool } from './tool.ts';

export function makeThinkTool(): Tool {
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
