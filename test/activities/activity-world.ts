/**
 * Everything an activity may reach, with a real store, real files and a clock that stands still.
 * Owns the wiring and the way a test carries a command out; runtime and agent are fakes of their own files.
 */
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Activity, ActivityContext } from '../../activities/activity.ts';
import { activitiesOf } from '../../activities/registry.ts';
import type { World } from '../../activities/world.ts';
import type { ActivityCommand, MachineEvent } from '../../core/machine/command.ts';
import { conversationId, runId, sandboxId } from '../../core/ids.ts';
import { asParleyError } from '../../core/parley-error.ts';
import type { ConversationRow, SandboxRow } from '../../core/machine/projection.ts';
import type { Deployment } from '../../ports/deployment.ts';
import type { Delivery } from '../../ports/notifier.ts';
import { createBlobDirectory } from '../../store/blobs/blob-directory.ts';
import { createKeyMinter } from '../../store/spend/key-minter.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import { createResultsDirectory } from '../../store/blobs/results-directory.ts';
import { sealKey } from '../../store/access/seal-key.ts';
import { conversationRow, sandboxRow } from '../contract/store-rows.ts';
import { MovableClock } from '../engine/movable-clock.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { FakeAgent } from './fake-agent.ts';
import { FakeRuntime } from './fake-runtime.ts';

export const CONVERSATION = conversationId('c'.repeat(32));
export const SANDBOX = sandboxId('5'.repeat(32));
export const RUN = runId('run-1');

/** To collect what the first attempt of the first item left in its sandbox. */
export const COLLECT_ORDER = {
  type: 'collectItem',
  id: 'run/run-1#9',
  runId: RUN,
  index: 0,
  key: 'one',
  attempt: 1,
  conversationId: CONVERSATION,
  sandboxId: SANDBOX,
  workspaceReadable: true,
} as const;

const DEPLOYMENT: Deployment = {
  limits: { idleTimeMs: 1_200_000, deletionTimeMs: 864_000_000 },
  capacity: { installationMax: 2, userMax: 2, conversationsPerSandboxMax: 20 },
  onFull: 'refuse',
  grouping: 'NO_GROUPING',
  vendor: 'proxyvendor',
  iterationsMax: 500,
  gitAuthor: { name: 'O\'Parley "$(id)"', email: 'parley@example.invalid' },
  forwardsHeaders: false,
  pollMs: 5_000,
};

export interface ActivityWorld {
  readonly world: World;
  readonly store: Store;
  readonly clock: MovableClock;
  readonly runtime: FakeRuntime;
  readonly agent: FakeAgent;
  readonly told: Delivery[];
  /** Where the secret references of a plan lead: by name. */
  readonly secretValues: Map<string, string>;
  /** Temporary folder with `workspace`, `results` and `blobs`. */
  readonly folder: string;
  readonly workspaceDir: string;
  readonly resultsDir: string;
}

export async function activityWorld(deployment: Partial<Deployment> = {}): Promise<ActivityWorld> {
  const folder = tempDir();
  const store = await openStore({ kind: 'sqlite', path: path.join(folder, 'parley.db') });
  onTestFinished(() => store.close());
  const key = sealKey(new Uint8Array(32).fill(7));
  const clock = new MovableClock();
  const workspaceDir = path.join(folder, 'workspace');
  const resultsDir = path.join(folder, 'results');
  const runtime = new FakeRuntime(workspaceDir);
  const agent = new FakeAgent();
  const told: Delivery[] = [];
  const secretValues = new Map<string, string>();
  const world: World = {
    ...store,
    runtime,
    agent,
    clones: {
      cloneUrl: ({ name }) => path.join(folder, 'remotes', name),
      addressOfHost: () => ({ outside: null, inside: `${folder}/remotes/` }),
    },
    branches: { deliver: () => Promise.reject(new Error('this test pushes nothing')) },
    codeHostApi: {
      providerOf: (provider) => provider ?? 'github',
      pullRequest: () => Promise.reject(new Error('this test opens nothing')),
    },
    vault: store.vault(key),
    blobs: createBlobDirectory(path.join(folder, 'blobs')),
    results: createResultsDirectory(resultsDir),
    webhooks: { send: () => Promise.reject(new Error('this test tells nobody')) },
    gatewayExport: { rows: () => Promise.resolve([]), fileRows: async function* () {} },
    secrets: {
      resolve: (reference) =>
        Promise.resolve(reference.from === 'file' ? null : (secretValues.get(reference.name) ?? null)),
    },
    keys: createKeyMinter(key),
    notifier: { deliver: (delivery) => Promise.resolve(void told.push(delivery)) },
    deployment: { ...DEPLOYMENT, ...deployment },
    clock,
  };
  return { world, store, clock, runtime, agent, told, secretValues, folder, workspaceDir, resultsDir };
}

/** The conversation, READY in its sandbox, which is up in the given generation. */
export async function inSandbox(
  around: ActivityWorld,
  rows: { readonly conversation?: Partial<ConversationRow>; readonly sandbox?: Partial<SandboxRow> } = {},
): Promise<void> {
  const sandbox = sandboxRow(SANDBOX, rows.sandbox);
  await around.world.records.project([
    sandbox,
    conversationRow(CONVERSATION, { sandboxId: SANDBOX, ...rows.conversation }),
  ]);
  around.runtime.up(SANDBOX, sandbox.generation);
  await around.world.workspaces.putFacts(CONVERSATION, { workingDir: around.workspaceDir, baseCommit: null });
}

export const AGENT_ORDER = {
  id: 'c#1',
  conversationId: CONVERSATION,
  sandboxId: SANDBOX,
  generation: 1,
} as const;

/** One attempt, as a driver makes it. @throws what the activity throws */
export function attempt(
  { world }: ActivityWorld,
  command: ActivityCommand,
  context: ActivityContext = { signal: new AbortController().signal, attempt: 0 },
): Promise<MachineEvent | null> {
  return activityOf(world, command).run(command as never, context);
}

/** The answer in the end, when no attempt goes better than this one. */
export async function answerOf(
  around: ActivityWorld,
  command: ActivityCommand,
): Promise<MachineEvent | null> {
  try {
    return await attempt(around, command);
  } catch (error) {
    return activityOf(around.world, command).failed(command as never, asParleyError(error));
  }
}

/** Which type it is, is known to the command alone. */
function activityOf(world: World, command: ActivityCommand): Activity {
  return activitiesOf(world)[command.type] as unknown as Activity;
}
