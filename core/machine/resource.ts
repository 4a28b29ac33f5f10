/**
 * What carrying out a command takes: which pool it waits in, how often it is tried, and whether it is over in milliseconds.
 * Owns the table that every driver reads; must not know how a command is carried out.
 */
import type { ActivityCommand, ActivityCommandType } from './command.ts';
import { BRIEF, ONCE, PATIENT, type RetryPolicy } from './retry.ts';

/** Which pool a command waits in: a flood of one kind must not starve the others. Watches wait by nature. */
export type ResourceClass = 'sandbox' | 'agent' | 'bookkeeping' | 'watch';

interface CommandFacts {
  readonly pool: ResourceClass;
  readonly retry: RetryPolicy;
  /**
   * As a rule it is over in milliseconds: store and other machines, or a few files in a sandbox that is up. A driver may
   * carry it out where it stands, and hand out by itself what takes longer.
   */
  readonly isBrief?: boolean;
}

const COMMANDS = {
  createSandbox: { pool: 'sandbox', retry: PATIENT },
  resumeSandbox: { pool: 'sandbox', retry: PATIENT },
  stopSandbox: { pool: 'sandbox', retry: BRIEF },
  archiveWorkspace: { pool: 'sandbox', retry: ONCE },
  destroySandbox: { pool: 'sandbox', retry: BRIEF },
  reserveSlot: { pool: 'bookkeeping', retry: PATIENT, isBrief: true },
  offerRoom: { pool: 'bookkeeping', retry: PATIENT, isBrief: true },
  watchIdle: { pool: 'watch', retry: PATIENT },
  placeConversation: { pool: 'bookkeeping', retry: PATIENT, isBrief: true },
  prepareRepository: { pool: 'agent', retry: BRIEF },
  runSetupScript: { pool: 'agent', retry: BRIEF },
  setUpGitHooks: { pool: 'agent', retry: BRIEF, isBrief: true },
  setUpSkills: { pool: 'agent', retry: BRIEF, isBrief: true },
  openAgent: { pool: 'agent', retry: BRIEF },
  deliverItem: { pool: 'agent', retry: BRIEF },
  watchAgent: { pool: 'watch', retry: PATIENT },
  interruptAgent: { pool: 'agent', retry: BRIEF },
  removeConversation: { pool: 'bookkeeping', retry: PATIENT, isBrief: true },
  record: { pool: 'bookkeeping', retry: PATIENT, isBrief: true },
  startConversation: { pool: 'bookkeeping', retry: BRIEF, isBrief: true },
  verifyItem: { pool: 'agent', retry: BRIEF },
  collectItem: { pool: 'agent', retry: BRIEF },
  cleanUpSandbox: { pool: 'bookkeeping', retry: PATIENT, isBrief: true },
  warmPool: { pool: 'bookkeeping', retry: BRIEF, isBrief: true },
  reconcileRun: { pool: 'bookkeeping', retry: BRIEF },
  reportRun: { pool: 'bookkeeping', retry: BRIEF },
  notifyOfRun: { pool: 'bookkeeping', retry: PATIENT },
} as const satisfies Readonly<Record<ActivityCommandType, CommandFacts>>;

/** Commands that wait for something to happen in the world, and end in one event. */
export type WatchCommandType = {
  [Type in ActivityCommandType]: (typeof COMMANDS)[Type]['pool'] extends 'watch' ? Type : never;
}[ActivityCommandType];

/** The pool in which commands of a type wait for each other. */
export function resourceOf(type: ActivityCommandType): ResourceClass {
  return COMMANDS[type].pool;
}

/** How often a command of a type is tried, by every driver and by the simulation. */
export function retryOf(type: ActivityCommandType): RetryPolicy {
  return COMMANDS[type].retry;
}

/** Whether it reaches into a sandbox: where that lives on a host, only a worker there can carry it out (D33). */
export function touchesSandbox(type: ActivityCommandType): boolean {
  return COMMANDS[type].pool !== 'bookkeeping';
}

/** Whether it asks again and again until the machine cancels it. */
export function isWatch(type: ActivityCommandType): type is WatchCommandType {
  return COMMANDS[type].pool === 'watch';
}

/** Whether it is over in milliseconds as a rule, so that the driver carries it out where it stands. */
export function isBrief(command: ActivityCommand): boolean {
  const { isBrief = false }: CommandFacts = COMMANDS[command.type];
  return isBrief || (command.type === 'runSetupScript' && command.isSetUp === true);
}

/** Every command that an activity carries out. */
export const ACTIVITY_COMMAND_TYPES = Object.keys(COMMANDS) as readonly ActivityCommandType[];
