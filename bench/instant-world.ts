/**
 * A world whose runtime and agent answer at once, in process; the store is real.
 * Owns the stand-ins of a benchmark: what is left to measure is the engine, the activities and the disk.
 */
import type { World } from '../activities/world.ts';
import type { SandboxId } from '../core/ids.ts';
import type { AgentConversationView, AgentServer } from '../ports/agent-server.ts';
import type { Clock } from '../ports/clock.ts';
import type { Notifier } from '../ports/notifier.ts';
import type { RuntimePresence, SandboxAddress, SandboxRuntime } from '../ports/sandbox-runtime.ts';
import { createKeyMinter } from '../store/spend/key-minter.ts';
import type { Store } from '../store/open-store.ts';
import { sealKey } from '../store/access/seal-key.ts';

/** The output of the script that prepares a workspace, for a repository without scripts of its own. */
const PREPARED = `own scripts:\n${'c'.repeat(40)}`;

export interface InstantParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly notifier: Notifier;
}

export function instantWorld({ store, clock, notifier }: InstantParts): World {
  const key = sealKey(new Uint8Array(32).fill(7));
  return {
    runtime: instantRuntime(),
    agent: instantAgent(clock),
    clones: {
      cloneUrl: ({ name }, gitUrl) => `${gitUrl}/local/${name}.git`,
      addressOfHost: () => ({ outside: null, inside: '' }),
    },
    branches: { deliver: nothing },
    codeHostApi: { providerOf: (provider) => provider ?? 'local', pullRequest: nothing },
    ...store,
    vault: store.vault(key),
    blobs: { put: () => Promise.resolve({ sha256: '', bytes: 1 }), get: nothing, remove: nothing },
    results: {
      write: nothing,
      read: () => Promise.resolve(null),
      files: () => Promise.resolve([]),
      names: () => Promise.resolve([]),
      location: () => '',
    },
    webhooks: { send: () => Promise.resolve() },
    gatewayExport: { rows: () => Promise.resolve([]), fileRows: async function* () {} },
    secrets: { resolve: () => Promise.resolve(null) },
    keys: createKeyMinter(key),
    notifier,
    deployment: {
      limits: { idleTimeMs: 1_200_000, deletionTimeMs: 864_000_000 },
      capacity: { installationMax: 1_000_000, userMax: 1_000_000, conversationsPerSandboxMax: 20 },
      onFull: 'refuse',
      grouping: 'NO_GROUPING',
      vendor: 'proxyvendor',
      iterationsMax: 500,
      gitAuthor: { name: 'Bench', email: 'bench@example.invalid' },
      forwardsHeaders: false,
      pollMs: 5_000,
    },
    clock,
  };
}

function nothing(): Promise<never> {
  return Promise.reject(new Error('Cannot answer: a benchmark does not use this port'));
}

function instantRuntime(): SandboxRuntime {
  const up = new Map<SandboxId, SandboxAddress>();
  return {
    capabilities: {
      kind: 'instant',
      isolation: 'none',
      tools: 'beside',
      pause: ['files'],
      resume: { files: 'boot', memory: null },
      egress: 'none',
      limits: { memory: 'none', processes: 'none', cpu: 'none', fileSize: 'none', workspace: 'none' },
      export: 'always',
      survivesRestart: false,
    },
    start: ({ sandboxId, generation }) => {
      const address: SandboxAddress = {
        sandboxId,
        generation,
        agent: { socketPath: '/dev/null' },
        routes: { proxyUrl: 'http://p', webhookUrl: 'http://w', gitUrl: 'http://g' },
        workspaceDir: '/workspace',
      };
      up.set(sandboxId, address);
      return Promise.resolve(address);
    },
    stop: () => Promise.resolve(),
    destroy: (id) => Promise.resolve(void up.delete(id)),
    inspect: (id) => {
      const address = up.get(id);
      const presence: RuntimePresence =
        address === undefined ? { kind: 'gone' } : { kind: 'up', generation: address.generation, address };
      return Promise.resolve(presence);
    },
    list: () => Promise.resolve([]),
    exportWorkspace: async function* () {},
  };
}

/** Every conversation is finished at the first poll. */
function instantAgent(clock: Clock): AgentServer {
  const view = (
    conversationId: AgentConversationView['conversationId'],
    executionStatus: AgentConversationView['executionStatus'],
  ): AgentConversationView => ({
    conversationId,
    executionStatus,
    pausedReason: null,
    iterationLimitReached: false,
    detail: null,
    retryAt: null,
    metrics: null,
    updatedAt: clock.now(),
  });
  const done = (): Promise<void> => Promise.resolve();
  return {
    idleSeconds: () => Promise.resolve(0),
    openConversation: (_target, { conversationId }) => Promise.resolve(view(conversationId, 'IDLE')),
    conversation: (_target, id) => Promise.resolve(view(id, 'FINISHED')),
    sendMessage: done,
    run: done,
    pause: done,
    interrupt: done,
    answerConfirmation: done,
    events: () => Promise.resolve({ items: [], nextPageId: null }),
    skills: () => Promise.resolve([]),
    hooks: () => Promise.resolve({}),
    deleteConversation: done,
    execute: () => Promise.resolve({ exitCode: 0, stdout: PREPARED, stderr: '' }),
    readFile: () => Promise.resolve(null),
    writeFile: done,
    readCallback: () => null,
    gitChanges: () => Promise.resolve([]),
    gitDiff: () => Promise.resolve({ modified: null, original: null }),
    patch: () => Promise.resolve({ content: new Uint8Array(), findings: [] }),
  };
}
