/**
 * The real Agent Server in a real sandbox, called by the real client: no stand-in between the three.
 * Runs as soon as `agent/` has a program to bundle.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAgentClient } from '../../clients/agent/agent-client.ts';
import type { AgentTarget } from '../../ports/agent-server.ts';
import { describeWith } from '../helpers/requires.ts';
import { agentConversation } from './agent-conversation.ts';
import { createProcessHarness } from './process-harness.ts';
import { newRequest } from './runtime-suite.ts';

const AGENT = { name: 'agent-server', source: 'agent/main.ts' };
const hasAgent = existsSync(path.resolve(import.meta.dirname, '../..', AGENT.source));

async function tellItsLife(isolation: 'namespaces' | 'none'): Promise<void> {
  const harness = await createProcessHarness(isolation, AGENT);
  const client = createAgentClient();
  const first = newRequest();
  onTestFinished(async () => {
    await client.close();
    await harness.runtime.destroy(first.sandboxId);
    await harness.close();
  });
  const address = await harness.runtime.start(first);
  const target: AgentTarget = { address, sessionKey: first.sessionKey };
  const request = agentConversation(address.workspaceDir, {
    secrets: { TOKEN: 'a-secret-value' },
    tags: { team: 'a' },
  });
  const id = request.conversationId;
  expect(await client.openConversation(target, request)).toMatchObject({
    conversationId: id,
    executionStatus: 'IDLE',
  });
  const message = { messageId: 'b9c7f7de-7a1f-4b73-9f0c-3c0f64d8f4a1', text: 'hello', run: false };
  await client.sendMessage(target, id, message);
  await client.sendMessage(target, id, message);
  const messages = (await client.events(target, id, null)).items.filter(
    (event) => event.kind === 'MessageEvent',
  );
  expect(messages).toHaveLength(1);

  const workingDir = address.workspaceDir;
  const commit =
    'git init -q . && git -c user.name=a -c user.email=b commit -q --allow-empty -m x && git rev-parse HEAD';
  const base = await client.execute(target, { command: commit, workingDir, timeoutMs: 10_000 });
  expect(base.exitCode).toBe(0);
  const file = path.posix.join(workingDir, 'new file.txt');
  await client.writeFile(target, file, Buffer.from('text\n'));
  expect(String(await client.readFile(target, file))).toBe('text\n');
  expect(await client.readFile(target, `${file}.none`)).toBeNull();
  const patch = await client.patch(target, { path: workingDir, baseCommit: base.stdout.trim() });
  expect(String(patch.content)).toContain('+text');
  const environment = await client.execute(target, { command: 'env', workingDir, timeoutMs: 10_000 });
  expect(environment.stdout).not.toContain(first.sessionKey);
  expect(await client.idleSeconds(target)).toBeLessThan(30);

  await harness.runtime.stop(first);
  const second = newRequest({ sandboxId: first.sandboxId, generation: 2 });
  const resumed: AgentTarget = {
    address: await harness.runtime.start(second),
    sessionKey: second.sessionKey,
  };
  const stale = client.conversation({ ...resumed, sessionKey: first.sessionKey }, id);
  await expect(stale).rejects.toMatchObject({ code: 'agent_refused' });
  expect(await client.openConversation(resumed, request)).toMatchObject({ conversationId: id });
  const after = (await client.events(resumed, id, null)).items.filter(
    (event) => event.kind === 'MessageEvent',
  );
  expect(after.map((event) => event.id)).toEqual(messages.map((event) => event.id));
  await client.deleteConversation(resumed, id);
  await client.deleteConversation(resumed, id);
  expect(await client.conversation(resumed, id)).toBeNull();
}

if (hasAgent) {
  describeWith('bwrap', 'the Agent Server in a namespace sandbox', () => {
    it('keeps its conversations over a stop and refuses the old key', () => tellItsLife('namespaces'));
  });
  describe('the Agent Server in a plain process', () => {
    it('keeps its conversations over a stop and refuses the old key', () => tellItsLife('none'));
  });
} else {
  describe('the Agent Server in a sandbox', () => {
    it('has no program yet', () => expect(hasAgent).toBe(false));
  });
}
