/**
 * The same work in the ordinary way: one workflow does it all from top to bottom, each step and each status an activity,
 * and a signal per touch sets the idle timer back.
 * Owns what is compared with; written as one would without machines, and not worse than that.
 */
import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { ConversationSpec } from '../../../core/conversation/state.ts';
import type { SandboxId } from '../../../core/ids.ts';
import { sessionEndOf } from '../../../core/sandbox/session.ts';
import type { OrdinaryActivities } from './activities.ts';
import { RowsOfOne } from './rows.ts';

/** Events after which a history is continued as new; the server suggests the same. */
const EVENTS_MAX = 4_096;
/** First incarnation; an ordinary conversation here has no second one. */
const GENERATION = 1;
const STEPS = ['RUNNING_SETUP_SCRIPT', 'SETTING_UP_GIT_HOOKS', 'SETTING_UP_SKILLS'] as const;
const COMMANDS = {
  RUNNING_SETUP_SCRIPT: 'runSetupScript',
  SETTING_UP_GIT_HOOKS: 'setUpGitHooks',
  SETTING_UP_SKILLS: 'setUpSkills',
} as const;

export interface OrdinaryInput {
  readonly spec: ConversationSpec;
  readonly idleTimeMs: number;
  /** What an earlier run of the workflow brought up; null at the beginning. */
  readonly session: Session | null;
}

interface Session {
  readonly sandboxId: SandboxId;
  readonly startedAt: number;
  readonly rowCount: number;
}

export const touchedSignal = defineSignal('touched');

const { carryOut, project } = proxyActivities<OrdinaryActivities>({
  startToCloseTimeout: '10 minutes',
  retry: { initialInterval: '500 ms', maximumInterval: '15 seconds' },
});

/** What a server can do at most: a workflow that does nothing. */
export async function empty(): Promise<void> {}

export async function ordinary(input: OrdinaryInput): Promise<void> {
  let touches = 0;
  setHandler(touchedSignal, () => void (touches += 1));
  const rows = new RowsOfOne(input.spec, input.session?.rowCount ?? 0);
  const session = input.session ?? (await start(input.spec, rows));
  const capAt = sessionEndOf(session.startedAt);
  for (let seen = -1; touches !== seen;) {
    seen = touches;
    if (Date.now() >= capAt) break;
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    if (continueAsNewSuggested || historyLength >= EVENTS_MAX) {
      return await continueAsNew<typeof ordinary>({
        ...input,
        session: { ...session, rowCount: rows.count },
      });
    }
    await condition(() => touches !== seen, Math.min(input.idleTimeMs, capAt - Date.now()));
  }
  const { sandboxId } = session;
  await carryOut({ id: 'stop', type: 'stopSandbox', sandboxId, generation: GENERATION });
  await project([rows.sandbox(sandboxId, 'PAUSED')]);
}

async function start(spec: ConversationSpec, rows: RowsOfOne): Promise<Session> {
  const { conversationId, userId, strategy } = spec;
  await project([rows.conversation('WORKING')]);
  const placed = await carryOut({
    ...{ id: 'place', type: 'placeConversation', conversationId, userId, strategy },
    ...{ sandboxId: null, excluded: [] },
  });
  if (placed?.type !== 'placed') throw new Error('Cannot start: there is no place');
  const { sandboxId } = placed;
  const agent = { conversationId, sandboxId, generation: GENERATION };
  await project([rows.conversation('WAITING_FOR_SANDBOX'), rows.sandbox(sandboxId, 'STARTING')]);
  const deadline = Date.now() + 600_000;
  await carryOut({ id: 'create', type: 'createSandbox', sandboxId, generation: GENERATION, deadline });
  const startedAt = Date.now();
  await project([rows.conversation('PREPARING_REPOSITORY'), rows.sandbox(sandboxId, 'RUNNING')]);
  const { repository, codeHost, branch } = spec;
  await carryOut({ id: 'repository', type: 'prepareRepository', ...agent, repository, codeHost, branch });
  for (const status of STEPS) {
    await project([rows.conversation(status)]);
    await carryOut({ id: status, type: COMMANDS[status], ...agent });
  }
  await project([rows.conversation('STARTING_CONVERSATION')]);
  const { model, tags, iterationsMax, confirmation } = spec;
  await carryOut({
    ...{ id: 'open', type: 'openAgent', ...agent, userId },
    ...{ model, tags, iterationsMax, confirmation },
  });
  await project([rows.conversation('READY', 'IDLE')]);
  await work(spec, agent, rows);
  return { sandboxId, startedAt, rowCount: rows.count };
}

interface Agent {
  readonly conversationId: ConversationSpec['conversationId'];
  readonly sandboxId: SandboxId;
  readonly generation: number;
}

/** The first message, up to its end. */
async function work(spec: ConversationSpec, agent: Agent, rows: RowsOfOne): Promise<void> {
  const { initialMessage } = spec;
  if (initialMessage === null) return;
  const { messageId, text, run } = initialMessage;
  const item = { kind: 'message', itemId: messageId, text, run } as const;
  await carryOut({ id: 'deliver', type: 'deliverItem', ...agent, item });
  await project([rows.conversation('READY', 'RUNNING')]);
  await carryOut({ id: 'watch', type: 'watchAgent', ...agent, nanoUsdMax: null, noProgressMs: null });
  await project([rows.conversation('READY', 'FINISHED')]);
}
