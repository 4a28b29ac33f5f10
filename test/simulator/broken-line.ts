/** A queue in which a conversation waits although a slot is free. Owns data only. */
import { HOUR_MS, MINUTE_MS } from '../../core/time.ts';
import { SIMULATED_USER } from '../../simulator/models/run-model.ts';
import { NOW, TALK, talking, type Case } from './doctored.ts';

const TURN = { turns: () => [{ waiterId: TALK, machine: 'conversation' as const, userId: SIMULATED_USER }] };

export const OF_THE_LINE: readonly Case[] = [
  {
    name: 'I31',
    machine: 'conversation',
    holds: [
      { after: talking, facts: TURN, id: 'another' },
      { after: talking, at: NOW + MINUTE_MS, facts: { turns: () => [] } },
      { after: talking, at: NOW + HOUR_MS, facts: TURN, id: 'another' },
      { after: talking, at: NOW + HOUR_MS + MINUTE_MS, facts: TURN },
      { after: talking, at: NOW + HOUR_MS + 11 * MINUTE_MS, facts: TURN, id: 'another' },
      { after: talking, at: NOW + 2 * HOUR_MS, facts: TURN, timeliness: { isDisturbed: true } },
    ],
    broken: [
      { after: talking, facts: TURN, id: 'another' },
      { after: talking, at: NOW + 10 * MINUTE_MS, facts: TURN, id: 'another' },
      { after: talking, at: NOW + 10 * MINUTE_MS + 1, facts: TURN },
    ],
  },
];
