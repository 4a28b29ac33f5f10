/**
 * Attempts to get out by a foreign agent: the program that speaks the Agent Client Protocol makes them itself, as
 * a child of the real Agent Server in a real sandbox. In namespaces all fail; without they succeed, so the list can fail.
 */
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OwnTarget } from '../../activities/agent-target.ts';
import { createAgentClient } from '../../clients/agent/agent-client.ts';
import type { ConversationId } from '../../core/ids.ts';
import { INSIDE, type InsideView } from '../../runtimes/on-host/inside-view.ts';
import { plainView } from '../../runtimes/process/inside-view.ts';
import { sandboxPaths } from '../../runtimes/process/sandbox-paths.ts';
import { agentConversation } from '../contract/agent-conversation.ts';
import { createProcessHarness, type ProcessHarness } from '../contract/process-harness.ts';
import { newRequest } from '../contract/runtime-suite.ts';
import { describeWith } from '../helpers/requires.ts';
import { openTargets, PROBES, type HostTargets } from './escape-suite.ts';
import { ESCAPED } from './probe.ts';

const AGENT_SERVER = { name: 'agent-server', source: 'agent/main.ts' };
const PROGRAM = path.join(import.meta.dirname, '../agent/acp/scripted-agent.js');
const NAME = 'scripted-agent.js';
const HEARD = 'heard.jsonl';
const ALL_MS_MAX = 300_000;
const MODEL_KEY = 'virtual-key-of-the-test';

interface Attacker {
  /** What the agent's own program prints when it runs the script; `$PPID` there is who has started the agent. */
  run(script: string): Promise<string>;
  close(): Promise<void>;
}

type Client = ReturnType<typeof createAgentClient>;

/** Where the server has its socket and its state, as a program inside may guess: no variable of an agent says so. */
type Guessed = Pick<InsideView, 'agentSocket' | 'agent'>;

async function openAttacker(
  { harness, guessed }: { readonly harness: ProcessHarness; readonly guessed: Guessed },
  client: Client,
  target: OwnTarget,
): Promise<Attacker> {
  const { workspaceDir, sandboxId } = target.address;
  const workspace = harness.workspaceOf(sandboxId);
  copyFileSync(PROGRAM, path.join(workspace, NAME));
  // It is the user of the tools that writes it.
  await client.execute(target, { command: `: > ${HEARD}`, workingDir: workspaceDir, timeoutMs: 10_000 });
  const request = agentConversation(workspaceDir);
  const id: ConversationId = request.conversationId;
  await client.openConversation(target, {
    ...request,
    llm: { ...request.llm, apiKey: MODEL_KEY },
    agent: {
      ...{ name: 'scripted', mode: null, version: null },
      command: ['node', path.posix.join(workspaceDir, NAME)],
      environment: { ACP_HEARD: path.posix.join(workspaceDir, HEARD) },
    },
  });
  const ran = (): readonly string[] => {
    const file = path.join(workspace, HEARD);
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    return lines.flatMap((line) => {
      const { ran: said } = (line === '' ? {} : JSON.parse(line)) as { readonly ran?: string };
      return said === undefined ? [] : [said];
    });
  };
  let count = 0;
  return {
    async run(script) {
      count += 1;
      const messageId = `b9c7f7de-7a1f-4b73-9f0c-${String(count).padStart(12, '0')}`;
      const known = `export PARLEY_AGENT_SOCKET='${guessed.agentSocket}' OH_CONVERSATIONS_PATH='${guessed.agent}/conversations';`;
      const command = `${known} ${script.replaceAll('$PPID', '$AGENT_PARENT')}`;
      const text = JSON.stringify([{ run: command }, { stop: 'end_turn' }]);
      await client.sendMessage(target, id, { messageId, text, run: true });
      const status = async (): Promise<unknown> =>
        ran().length >= count ? (await client.conversation(target, id))?.executionStatus : 'at work';
      await expect.poll(status, { timeout: ALL_MS_MAX, interval: 20 }).toBe('FINISHED');
      return ran()[count - 1] ?? '';
    },
    close: () => client.deleteConversation(target, id),
  };
}

function agentEscapes(isolation: 'namespaces' | 'none'): void {
  const isIsolated = isolation === 'namespaces';
  const client = createAgentClient();
  let harness: ProcessHarness;
  let host: HostTargets;
  let attacker: Attacker;

  beforeAll(async () => {
    harness = await createProcessHarness(isolation, AGENT_SERVER);
    const start = async (): Promise<OwnTarget> => {
      const request = newRequest();
      return { address: await harness.runtime.start(request), sessionKey: request.sessionKey };
    };
    const [target, neighbour] = [await start(), await start()];
    const workingDir = neighbour.address.workspaceDir;
    host = await openTargets({
      neighbourFile: path.join(harness.workspaceOf(neighbour.address.sandboxId), 'secret.txt'),
      async plant(secret) {
        const command = `printf %s ${secret} > secret.txt`;
        await client.execute(neighbour, { command, workingDir, timeoutMs: 10_000 });
      },
    });
    const paths = sandboxPaths(harness.options, target.address.sandboxId);
    const guessed = isIsolated
      ? { agentSocket: path.posix.join(INSIDE.agentSockets, 'agent.sock'), agent: INSIDE.agent }
      : plainView(harness.options, paths);
    // The attempts on the state of a server are after this file, which the stand-in server of other tests keeps there.
    writeFileSync(path.join(paths.agent, 'conversations', 'boots'), '1\n');
    attacker = await openAttacker({ harness, guessed }, client, target);
  }, ALL_MS_MAX);
  afterAll(async () => {
    await attacker?.close();
    await host?.close();
    await client.close();
    for (const { sandboxId } of await harness.runtime.list()) await harness.runtime.destroy(sandboxId);
    await harness.close();
  });

  it('runs what it is told, and is given a key of its own for the proxy and no other', async () => {
    expect(await attacker.run('command -v perl node tar unshare grep cut > /dev/null && echo all')).toBe(
      'all\n',
    );
    // Without the variables that only the attempts are given.
    const variables = await attacker.run('unset PARLEY_AGENT_SOCKET OH_CONVERSATIONS_PATH; env');
    expect(variables).toContain(`LLM_API_KEY=${MODEL_KEY}\n`);
    expect(variables).toContain('LLM_BASE_URL=http://127.0.0.1:4100/v1\n');
    expect(variables).not.toMatch(/^(OH_|PARLEY_|SESSION_API_KEY|GATEWAY)/m);
    expect(variables).not.toContain(host.targets.gatewayKey);
  });

  for (const probe of PROBES) {
    if (!isIsolated && probe.onPlain !== 'escapes') continue;
    it(
      `${isIsolated ? 'denies the agent what' : 'lets through what'} ${probe.name}`,
      async () => {
        const said = await attacker.run(probe.script(host.targets));
        if (isIsolated) expect(said).not.toContain(ESCAPED);
        else expect(said).toContain(ESCAPED);
      },
      ALL_MS_MAX,
    );
  }

  it('left nothing behind on the host', () => {
    const planted = ['planted', 'climbed'].map((name) => path.join(host.targets.hostDir, name));
    expect(planted.map((file) => existsSync(file))).toEqual(isIsolated ? [false, false] : [true, true]);
  });
}

describeWith('bwrap', 'escapes of an agent from a namespace sandbox', () => agentEscapes('namespaces'));

describe('escapes of an agent from a plain process', () => agentEscapes('none'));
