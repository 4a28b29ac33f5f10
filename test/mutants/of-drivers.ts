/** Planted bugs in placement and in the drivers: slots, timers, commits, cancellations. Owns data only. */
import type { Mutant } from './mutant.ts';

const SIMULATION = 'simulator/simulation.ts';
const CLAIM = 'core/placement/claim.ts';
const LINE = 'core/placement/line.ts';
const PLACE = 'core/placement/place.ts';
const SLOTS = 'simulator/models/slot-model.ts';

export const OF_DRIVERS: readonly Mutant[] = [
  {
    name: 'one-conversation-too-many',
    file: PLACE,
    find: "if (candidate.attachedCount >= question.conversationsPerSandboxMax) return 'full';",
    replace: "if (candidate.attachedCount > question.conversationsPerSandboxMax) return 'full';",
    mistake: 'A sandbox takes one conversation more than the policy allows.',
    source: 'A limit off by one.',
    caughtBy: ['L10'],
  },
  {
    name: 'one-slot-too-many',
    file: LINE,
    find: 'let free = installationMax - taken;',
    replace: 'let free = installationMax - taken + 1;',
    mistake: 'One sandbox more than the capacity gets a slot.',
    source: 'Two starts for the last slot.',
    caughtBy: ['I2'],
  },
  {
    name: 'slots-of-a-user-not-counted',
    file: SLOTS,
    find: '    this.slotsOfUser.set(userId, (this.slotsOfUser.get(userId) ?? 0) + 1);\n',
    replace: '',
    mistake: 'The slots of one user are not counted, so that their limit is never met.',
    source: 'A limit that is checked against a count that nobody keeps.',
    caughtBy: ['I2'],
  },
  {
    name: 'slot-given-back-twice',
    file: SLOTS,
    find: '    if (user === undefined) return;\n    this.hosts?.table.giveBack(sandboxId);\n    this.holders.delete(sandboxId);\n    this.slotsOfUser.set(user, (this.slotsOfUser.get(user) ?? 1) - 1);',
    replace:
      '    this.hosts?.table.giveBack(sandboxId);\n    this.holders.delete(sandboxId);\n    const own = user ?? [...this.slotsOfUser.keys()][0];\n    if (own !== undefined) this.slotsOfUser.set(own, (this.slotsOfUser.get(own) ?? 1) - 1);',
    mistake: 'Every projection of a sandbox without a slot gives one back to its user.',
    source: 'A counter that is lowered at every delivery of an event and not once.',
    caughtBy: ['I2'],
  },
  {
    name: 'cancelled-commands-go-on',
    file: SIMULATION,
    find: '      this.out.delete(command.commandId);\n',
    replace: '',
    mistake: 'A driver does not tell running work that nobody waits for it any more.',
    source: 'A worker that lost its lease wakes and goes on.',
    caughtBy: ['L9'],
  },
  {
    name: 'timer-moved-only-forward',
    file: SIMULATION,
    find: '    if (at === entity.armedAt) return;\n',
    replace:
      '    if (at === entity.armedAt || (at !== null && entity.armedAt !== null && at > entity.armedAt)) return;\n',
    mistake: 'A driver leaves an earlier timer in place, and forgets the later deadline once it has struck.',
    source: 'A timer dropped in a race with its renewal, and no sweep.',
    caughtBy: ['L3'],
  },
  {
    name: 'engine-drops-late-tells',
    file: 'engine/engine.ts',
    find: '    for (let next = batch.sends[0]; next !== undefined && applied < bound; next = batch.sends[0]) {',
    replace:
      '    for (let next = batch.sends[0]; next !== undefined && applied < 4; next = batch.sends.shift()) {',
    mistake: 'The embedded driver loses tells when a batch is full.',
    source: 'A queue that is cut at its bound.',
    caughtBy: ['conformance'],
    detector: 'conformance',
  },
  {
    name: 'engine-keeps-the-first-deadline',
    file: 'engine/entity-timers.ts',
    find: '    if (known?.at === at) return;\n    known?.timer.cancel();',
    replace: '    if (known !== undefined && at !== null) return;\n    known?.timer.cancel();',
    mistake: 'The embedded driver does not move a timer that is armed.',
    source: 'A timer dropped in a race with its renewal, and no sweep.',
    caughtBy: ['conformance'],
    detector: 'conformance',
  },
  {
    name: 'engine-does-not-cancel',
    file: 'engine/engine.ts',
    find: '    for (const commandId of batch.cancelled) this.dispatcher.cancel(commandId);\n',
    replace: '',
    mistake: 'The embedded driver settles what was cancelled without telling the work that runs.',
    source: 'A worker that lost its lease wakes and goes on.',
    caughtBy: ['conformance'],
    detector: 'conformance',
  },
  {
    name: 'stranger-removed-with-the-run',
    file: CLAIM,
    find: 'return isPlaceTaken || occupants.some(({ isOurs }) => !isOurs)',
    replace: 'return isPlaceTaken',
    mistake: "A run's clean-up does not ask whether anybody else's conversation is in the sandbox.",
    source: 'An orchestrator removed what somebody else had begun to use.',
    caughtBy: ['I28'],
  },
  {
    name: 'timer-struck-early-is-forgotten',
    file: SIMULATION,
    find: 'const at = Math.max(this.instant + earlyMs, this.options.downUntil?.() ?? 0);',
    replace: 'const at = Math.max(this.instant, this.options.downUntil?.() ?? 0);',
    mistake: 'A driver strikes a deadline although its clock was set back, and does not arm it again.',
    source: 'A timer fires by one clock and is judged by another.',
    caughtBy: ['L3', 'I27'],
  },
  {
    name: 'clock-set-unnoticed',
    file: SIMULATION,
    find: 'entity.state = machine.clockSet(state, byMs);',
    replace: 'entity.state = state;',
    mistake: 'A driver whose wall clock is set leaves the limits of time at work where they are.',
    source: 'A laptop sleeps for a night, and all its items have timed out in the morning.',
    caughtBy: ['R6'],
  },
];
