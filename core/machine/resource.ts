/**
 * What carrying out a command takes: which pool it waits in, and whether it is over in milliseconds.
 * Owns the table that every driver reads; must not know how a command is carried out.
 */
import type { ActivityCommand, ActivityCommandType } from './command.ts';

/** Which pool a command waits in: a flood of one kind must not starve the others. Watches wait by nature. */
export type ResourceClass = 'sandbox' | 'agent' | 'bookkeeping' | 'watch';

const RESOURCES = {
  createSandbox: 'sandbox',
  resumeSandbox: 'sandbox',
  stopSandbox: 'sandbox',
  archiveWorkspace: 'sandbox',
  destroySandbox: 'sandbox',
  reserveSlot: 'bookkeeping',
  offerRoom: 'bookkeeping',
  watchIdle: 'watch',
  placeConversation: 'bookkeeping',
  prepareRepository: 'agent',
  runSetupScript: 'agent',
  setUpGitHooks: 'agent',
  setUpSkills: 'agent',
  openAgent: 'agent',
  deliverItem: 'agent',
  watchAgent: 'watch',
  interruptAgent: 'agent',
  removeConversation: 'bookkeeping',
  record: 'bookkeeping',
  startConversation: 'bookkeeping',
  verifyItem: 'agent',
  collectItem: 'agent',
  cleanUpSandbox: 'bookkeeping',
  warmPool: 'bookkeeping',
  reconcileRun: 'bookkeeping',
  reportRun: 'bookkeeping',
  notifyOfRun: 'bookkeeping',
} as const satisfies Readonly<Record<ActivityCommandType, ResourceClass>>;

/** Commands that wait for something to happen in the world, and end in one event. */
export type WatchCommandType = {
  [Type in ActivityCommandType]: (typeof RESOURCES)[Type] extends 'watch' ? Type : never;
}[ActivityCommandType];

/**
 * Commands that are as a rule over in milliseconds: store and other machines, or a few files in a sandbox that is up.
 * A driver may carry them out where it stands, and hand out by itself what takes longer.
 */
const BRIEF: ReadonlySet<ActivityCommandType> = new Set<ActivityCommandType>([
  'reserveSlot',
  'offerRoom',
  'placeConversation',
  'record',
  'removeConversation',
  'startConversation',
  'cleanUpSandbox',
  'warmPool',
  'setUpGitHooks',
  'setUpSkills',
]);

/** The pool in which commands of a type wait for each other. */
export function resourceOf(type: ActivityCommandType): ResourceClass {
  return RESOURCES[type];
}

/** Whether it reaches into a sandbox: where that lives on a host, only a worker there can carry it out (D33). */
export function touchesSandbox(type: ActivityCommandType): boolean {
  return RESOURCES[type] !== 'bookkeeping';
}

/** Whether it asks again and again until the machine cancels it. */
export function isWatch(type: ActivityCommandType): type is WatchCommandType {
  return RESOURCES[type] === 'watch';
}

/** Whether it is over in milliseconds as a rule, so that the driver carries it out where it stands. */
export function isBrief(command: ActivityCommand): boolean {
  return BRIEF.has(command.type) || (command.type === 'runSetupScript' && command.isSetUp === true);
}

/** Every command that an activity carries out. */
export const ACTIVITY_COMMAND_TYPES = Object.keys(RESOURCES) as readonly ActivityCommandType[];
