/**
 * The tools of the real Agent Server, kept from it: what they must still be able to do, and what the server must not do
 * for them. The attempts of the escape suite are made with the stand-in; here the server itself is the way that is tried.
 * Owns the cases; a test file says how its runtime is made.
 */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { END_OTHERS } from '../../activities/leftover-processes.ts';
import { createAgentClient } from '../../clients/agent/agent-client.ts';
import type { SandboxId } from '../../core/ids.ts';
import type { AgentTarget } from '../../ports/agent-server.ts';
import { agentConversation } from '../contract/agent-conversation.ts';
import { newRequest } from '../contract/runtime-suite.ts';
import type { RuntimeHarness } from '../contract/runtime-suite.ts';

export const AGENT = { name: 'agent-server', source: 'agent/main.ts' };
const WORKSPACE = '/workspace';

export interface ToolPlaceSetup<T extends RuntimeHarness> {
  readonly create: () => Promise<T>;
  /** Folder of the server's state, on the host and as the sandbox has it. */
  readonly stateOf: (harness: T, sandbox: SandboxId) => string;
  readonly inside: string;
}

/** The sandbox and its runtime while a case runs. */
export interface ToolPlace<T> {
  readonly harness: () => T;
  readonly sandbox: () => SandboxId;
  /** Runs a command there: its exit code, a space, and what it printed. */
  readonly sh: (command: string) => Promise<string>;
}

export function describeToolPlace<T extends RuntimeHarness>(setup: ToolPlaceSetup<T>): ToolPlace<T> {
  const { inside } = setup;
  const client = createAgentClient();
  let harness: T;
  let target: AgentTarget;
  let sandbox: SandboxId;
  const stateOf = (id: SandboxId): string => setup.stateOf(harness, id);
  const sh = async (command: string, timeoutMs = 20_000): Promise<string> => {
    const ended = await client.execute(target, { command, workingDir: WORKSPACE, timeoutMs });
    return `${ended.exitCode} ${ended.stdout}`;
  };

  beforeAll(async () => {
    harness = await setup.create();
    const request = newRequest();
    sandbox = request.sandboxId;
    target = { address: await harness.runtime.start(request), sessionKey: request.sessionKey };
    await client.openConversation(target, agentConversation(WORKSPACE));
  });
  afterAll(async () => {
    await client.close();
    for (const { sandboxId } of await harness.runtime.list()) await harness.runtime.destroy(sandboxId);
    await harness.close();
  });

  it('keeps what a command leaves running for the next one, and reaps what is left behind', async () => {
    expect(await sh('sleep 300 > /dev/null 2>&1 & setsid sleep 301 > /dev/null 2>&1 & echo started')).toBe(
      '0 started\n',
    );
    await sh('(sleep 0.1 &) ; (true &) ; true');
    expect(await sh('cat /proc/[0-9]*/comm | grep -c ^sleep$')).toBe('0 2\n');
    expect(await sh('sleep 0.3; grep -l "^State:.Z" /proc/[0-9]*/status | wc -l')).toBe('0 0\n');
  });

  it('ends the whole of a command that runs out of time', async () => {
    const loop = 'for i in 1 2 3 4 5 6; do sleep 7.5; done; echo never';
    expect(await sh(loop, 1_000)).toMatch(/^-1/);
    expect(await sh('cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -c "sleep 7[.]5"; true')).toBe('0 0\n');
  });

  it('goes on when tools end all they can', async () => {
    await sh('kill -9 -1; kill -9 1; for p in /proc/[0-9]*; do kill -STOP ${p#/proc/}; done', 2_000).catch(
      () => null,
    );
    expect(await sh('echo well')).toBe('0 well\n');
    expect(await sh('setsid sleep 300 > /dev/null 2>&1 & echo x')).toBe('0 x\n');
    await sh(END_OTHERS);
    expect(await sh('cat /proc/[0-9]*/comm | grep -c ^sleep$; true')).toBe('0 0\n');
  });

  it('writes nothing to its own state through a link of a tool', async () => {
    const before = readdirSync(path.join(stateOf(sandbox), 'conversations')).sort();
    await sh(
      `ln -s ${inside}/conversations out; ln -s ${inside}/conversations/planted file; ln -s /proc/self/fd fd`,
    );
    for (const name of ['out/planted', 'file', 'out/deep/planted', `${inside}/planted`])
      await client.writeFile(target, path.posix.resolve(WORKSPACE, name), Buffer.from('x')).catch(() => null);
    expect(readdirSync(path.join(stateOf(sandbox), 'conversations')).sort()).toEqual(before);
    expect(existsSync(path.join(stateOf(sandbox), 'planted'))).toBe(false);
  });

  it('reads nothing of its own through a link of a tool', async () => {
    const meta = readdirSync(path.join(stateOf(sandbox), 'conversations')).find((name) =>
      /^[0-9a-f]{32}$/.test(name),
    );
    await sh(`ln -sfn ${inside}/conversations/${meta} mine; ln -sfn /proc/self/environ environ`);
    for (const name of ['mine/meta.json', 'mine/events.jsonl', 'environ', '/proc/self/maps'])
      await expect(client.readFile(target, path.posix.resolve(WORKSPACE, name))).rejects.toThrow();
    expect(await sh(`cat mine/meta.json 2> /dev/null; echo end`)).toBe('0 end\n');
  });

  it('writes files that tools own, also over what is there', async () => {
    const file = path.posix.join(WORKSPACE, 'deep/er/file');
    for (const text of ['first, and longer', 'second'])
      await client.writeFile(target, file, Buffer.from(text));
    expect(await sh('cat deep/er/file; echo; echo more >> deep/er/file && stat -c %U deep/er')).toBe(
      '0 second\nagent\n',
    );
    expect(String(await client.readFile(target, file))).toBe('secondmore\n');
  });

  it('begins no command in a folder of its own that a link of a tool leads to', async () => {
    await sh(`ln -sfn ${inside}/conversations here`);
    const ended = client.execute(target, {
      command: 'cat boots meta.json */meta.json; cat ../conversations/*/meta.json',
      workingDir: path.posix.join(WORKSPACE, 'here'),
      timeoutMs: 20_000,
    });
    expect((await ended.catch(() => null))?.stdout ?? '').toBe('');
    expect(await sh('rm here; echo well')).toBe('0 well\n');
  });

  it('is told that a folder is missing, as anywhere', async () => {
    const command = { command: 'true', workingDir: path.posix.join(WORKSPACE, 'nowhere'), timeoutMs: 20_000 };
    await expect(client.execute(target, command)).rejects.toThrow();
  });

  it('has its conversations again when it was stopped', async () => {
    const conversation = agentConversation(WORKSPACE);
    await client.openConversation(target, conversation);
    await harness.runtime.stop({ sandboxId: sandbox, generation: 1 });
    const request = newRequest({ sandboxId: sandbox, generation: 2 });
    target = { address: await harness.runtime.start(request), sessionKey: request.sessionKey };
    await expect(client.conversation(target, conversation.conversationId)).resolves.toBeDefined();
    expect(await sh('cat deep/er/file && rm -r deep && echo gone')).toMatch(/^0 second.*\ngone\n$/s);
  });

  return { harness: () => harness, sandbox: () => sandbox, sh };
}
