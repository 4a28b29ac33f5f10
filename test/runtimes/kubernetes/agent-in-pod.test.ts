/**
 * The real Agent Server in a pod, called by the real client at the pod's address: no stand-in between the three.
 */
import { expect, it, onTestFinished } from 'vitest';
import { createAgentClient } from '../../../clients/agent/agent-client.ts';
import type { AgentTarget } from '../../../ports/agent-server.ts';
import { agentConversation } from '../../contract/agent-conversation.ts';
import { newRequest } from '../../contract/runtime-suite.ts';
import { describeWith } from '../../helpers/requires.ts';
import { createKubernetesHarness } from './kubernetes-harness.ts';

const AGENT = { name: 'agent-server', source: 'agent/main.ts' };

describeWith('bwrap', 'the Agent Server in a pod', () => {
  it('keeps files and conversations over a pause, and refuses the old key', async () => {
    const harness = await createKubernetesHarness({}, AGENT);
    const client = createAgentClient();
    const first = newRequest();
    onTestFinished(async () => {
      await client.close();
      await harness.runtime.destroy(first.sandboxId);
      await harness.close();
    });
    const address = await harness.runtime.start(first);
    expect(address.agent).toMatchObject({ url: expect.stringMatching(/^http:\/\/127\.[0-9.]+:8000$/) });
    const target: AgentTarget = { address, sessionKey: first.sessionKey };
    const request = agentConversation(address.workspaceDir);
    await client.openConversation(target, request);
    await client.sendMessage(target, request.conversationId, {
      messageId: 'b9c7f7de-7a1f-4b73-9f0c-3c0f64d8f4a1',
      text: 'hello',
      run: false,
    });
    await client.writeFile(target, `${address.workspaceDir}/kept.txt`, Buffer.from('kept\n'));
    // Git trusts a workspace that belongs to the agent only.
    const commit = 'git init -q . && git -c user.name=a -c user.email=b commit -q --allow-empty -m x';
    const { workspaceDir: workingDir } = address;
    expect(await client.execute(target, { command: commit, workingDir, timeoutMs: 10_000 })).toMatchObject({
      exitCode: 0,
    });
    await harness.runtime.stop(first);
    const second = newRequest({ sandboxId: first.sandboxId, generation: 2 });
    const resumed: AgentTarget = {
      address: await harness.runtime.start(second),
      sessionKey: second.sessionKey,
    };
    const stale = client.conversation({ ...resumed, sessionKey: first.sessionKey }, request.conversationId);
    await expect(stale).rejects.toMatchObject({ code: 'agent_refused' });
    expect(String(await client.readFile(resumed, `${workingDir}/kept.txt`))).toBe('kept\n');
    const { items } = await client.events(resumed, request.conversationId, null);
    expect(items.filter((event) => event.kind === 'MessageEvent')).toHaveLength(1);
  });
});
