/** Scripts about conversations that belong to no batch. Owns the list; what must come out is equality, and no violation. */
import type { Script } from '../../simulator/script.ts';
import { failing, H, M, S, script, start } from './script-parts.ts';

export const CONVERSATION_SCRIPTS: readonly Script[] = [
  script(
    'a conversation without a run: the agent rests',
    [
      [0, start('a', { silent: true })],
      [M, { do: 'message', name: 'a' }],
    ],
    { untilMs: 2 * H },
  ),
  script(
    'interrupted at work, then told to go on',
    [
      [0, start('a')],
      [5 * M, { do: 'interrupt', name: 'a' }],
      [10 * M, { do: 'message', name: 'a' }],
    ],
    { untilMs: 2 * H },
  ),
  script(
    'interrupted while it comes up',
    [
      [0, start('a')],
      [2 * S, { do: 'interrupt', name: 'a' }],
    ],
    { untilMs: 2 * H },
  ),
  script(
    'a tombstone: nothing brings a deleted conversation back',
    [
      [0, start('a')],
      [5 * M, { do: 'remove', name: 'a' }],
      [6 * M, { do: 'message', name: 'a' }],
      [6 * M, { do: 'retitle', name: 'a' }],
      [7 * M, start('a')],
    ],
    { untilMs: 2 * H },
  ),
  script(
    'removed while it is being placed',
    [
      [0, start('a')],
      [100, { do: 'remove', name: 'a' }],
    ],
    { untilMs: 2 * H },
  ),
  script(
    'a title is changed',
    [
      [0, start('a')],
      [M, { do: 'retitle', name: 'a' }],
    ],
    { untilMs: H },
  ),
  script(
    'a step of the start fails',
    [
      [0, start('a')],
      [M, { do: 'message', name: 'a' }],
    ],
    { models: failing({ prepareRepository: { first: 1 } }), untilMs: 2 * H },
  ),
  script(
    'deliveries fail, at last for good',
    [
      [0, start('a')],
      [H, { do: 'message', name: 'a' }],
    ],
    { models: failing({ deliverItem: { first: 7 } }), untilMs: 2 * H },
  ),
];
