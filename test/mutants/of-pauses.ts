/** Planted bugs in the pauses that nobody asked for: of the idle, and to make room. Owns data only. */
import type { Mutant } from './mutant.ts';

const ANSWERS = 'core/sandbox/answers.ts';

export const OF_PAUSES: readonly Mutant[] = [
  {
    name: 'new-work-not-seen',
    file: ANSWERS,
    find: "({ activity, since }) => activity === 'working' && since >= lookedAt,",
    replace: '() => false,',
    mistake: 'An agent that took up work after the look does not stop the pause.',
    source: 'Activity that arrives after pausing was decided and before it begins.',
    caughtBy: ['I26'],
  },
  {
    name: 'pause-not-checked-again',
    file: ANSWERS,
    find: 'if (!isIdle || isOutdated(context, event)) return watch(context, event.lastActivityAt);',
    replace: 'if (!isIdle) return watch(context, event.lastActivityAt);',
    mistake: 'A pause for idleness is claimed without asking whether anything has happened since the look.',
    source: 'A timer that paused a workspace in the middle of a command.',
    caughtBy: ['I26'],
  },
];
