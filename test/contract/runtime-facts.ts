/**
 * What every sandbox is like from inside, read from one that is up; no case changes it for the next.
 * Owns the cases that need no sandbox of their own; the life of one is tested in runtime-suite.ts.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RuntimePresence } from '../../ports/sandbox-runtime.ts';
import { post, runInside } from './runtime-inside.ts';
import type { InsideResult } from './stand-in-agent.ts';
import { newId, newRequest } from './runtime-suite.ts';
import type { RuntimeHarness, Up } from './runtime-suite.ts';

/** Programs that the work in a sandbox takes for granted. */
const PROGRAMS = ['sh', 'git', 'node', 'tar', 'grep', 'sed', 'awk', 'find'];
const VARIABLES = [
  ...['PARLEY_SANDBOX_ID', 'PARLEY_SANDBOX_GENERATION', 'PARLEY_WORKSPACE_DIR', 'HOME', 'PATH'],
  ...['OH_WEBHOOKS_0_BASE_URL', 'OH_CONVERSATIONS_PATH'],
];

export function describeRuntimeFacts(createHarness: () => Promise<RuntimeHarness>): void {
  let harness: RuntimeHarness;
  let sandbox: Up;
  const sh = (command: string): Promise<InsideResult> => runInside(sandbox, command);
  beforeAll(async () => {
    harness = await createHarness();
    const request = newRequest({ generation: 3 });
    const address = await harness.runtime.start(request);
    sandbox = { address, sessionKey: request.sessionKey, id: request.sandboxId };
  });
  afterAll(async () => {
    for (const { sandboxId: id } of await harness.runtime.list()) await harness.runtime.destroy(id);
    await harness.close();
  });

  it.each(PROGRAMS)('has the program %s', async (program) => {
    expect((await sh(`command -v ${program}`)).code).toBe(0);
  });

  it.each(VARIABLES)('tells the agent %s', async (name) => {
    expect((await sh(`printenv ${name}`)).stdout.trim()).not.toBe('');
  });

  it('tells the agent which incarnation it is', async () => {
    const { stdout } = await sh('echo "$PARLEY_SANDBOX_ID $PARLEY_SANDBOX_GENERATION"');
    expect(stdout.trim()).toBe(`${sandbox.id} 3`);
    expect(sandbox.address).toMatchObject({ sandboxId: sandbox.id, generation: 3 });
  });

  it('works where its address says the workspace is', async () => {
    expect((await sh('pwd -P')).stdout.trim()).toBe(
      (await sh(`cd '${sandbox.address.workspaceDir}' && pwd -P`)).stdout.trim(),
    );
    expect((await sh('printenv PARLEY_WORKSPACE_DIR')).stdout.trim()).toBe(sandbox.address.workspaceDir);
  });

  it.each(['proxyUrl', 'webhookUrl', 'gitUrl'] as const)(
    'gives %s on loopback, without a slash at the end',
    (route) => {
      expect(sandbox.address.routes[route]).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    },
  );

  it('gives each route a port of its own', () => {
    expect(new Set(Object.values(sandbox.address.routes)).size).toBe(3);
  });

  it.each([
    ['the session key, in the environment of a shell', 'env'],
    ['the session key, in any command line', "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"],
    ['the session key, in any environment', "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' ' '"],
    ['the session key, in its files', 'cat -- * .[!.]* 2>/dev/null; true'],
  ])('shows nobody %s', async (_, command) => {
    expect((await sh(command)).stdout).not.toContain(sandbox.sessionKey);
  });

  it.each([
    ['without a key', ''],
    ['with a wrong key', 'wrong'],
    ['with a part of the key', 'part'],
  ])('is refused %s', async (_, kind) => {
    const sessionKey = kind === 'part' ? sandbox.sessionKey.slice(0, -1) : kind;
    expect((await post({ ...sandbox, sessionKey }, '/run', 'true')).status).toBe(401);
  });

  it.each([
    ['spaces', 'a b c'],
    ['quotes', `it's "quoted"`],
    ['other scripts', 'größe-文件-🙂'],
    ['a leading dash', '-rf'],
    ['a line break', 'a\nb'],
  ])('keeps files whose names have %s', async (_, name) => {
    const quoted = `'./${name.replaceAll("'", `'\\''`)}'`;
    expect((await sh(`printf x > ${quoted} && cat ${quoted} && rm ${quoted}`)).stdout).toBe('x');
  });

  it.each(['HOME', 'PWD'])('can write to %s', async (name) => {
    expect((await sh(`touch "$${name}/t" && rm "$${name}/t"`)).code).toBe(0);
  });

  it.each(['/tmp', '/dev/null', '/dev/zero', '/dev/urandom', '/proc/self/stat'])('has %s', async (path) => {
    expect((await sh(`test -e ${path}`)).code).toBe(0);
  });

  it('runs a program that it wrote itself', async () => {
    const made = `printf '#!/bin/sh\\necho own' > own && chmod 755 own && ./own; rm -f own`;
    expect((await sh(made)).stdout).toBe('own\n');
  });

  it('passes exit codes, output and error apart', async () => {
    expect(await sh('echo out; echo err >&2; exit 7')).toEqual({ code: 7, stdout: 'out\n', stderr: 'err\n' });
  });

  it('talks to itself on loopback', async () => {
    const code = `const s=require('net').createServer(c=>c.end('hi')).listen(0,'127.0.0.1',()=>require('net').connect(s.address().port,'127.0.0.1').on('data',d=>{console.log(String(d));process.exit()}))`;
    expect((await sh(`node -e "${code}"`)).stdout).toBe('hi\n');
  });

  it('commits with Git', async () => {
    const commit =
      'git -c user.name=a -c user.email=b commit -q --allow-empty -m x && git rev-list --count HEAD';
    expect((await sh(`git init -q repo && cd repo && ${commit}; cd ..; rm -rf repo`)).stdout.trim()).toBe(
      '1',
    );
  });

  describeAnswers(() => ({ harness, sandbox }));
}

/** What the runtime says of that sandbox, and of itself. */
function describeAnswers(given: () => { readonly harness: RuntimeHarness; readonly sandbox: Up }): void {
  it('is never asked twice for the same answer: inspect and list agree', async () => {
    const presences = await Promise.all(
      [1, 2, 3].map(() => given().harness.runtime.inspect(given().sandbox.id)),
    );
    expect(new Set(presences.map((one: RuntimePresence) => one.kind))).toEqual(new Set(['up']));
    const listed = (await given().harness.runtime.list()).filter(
      (one) => one.sandboxId === given().sandbox.id,
    );
    expect(listed).toEqual([{ sandboxId: given().sandbox.id, generation: 3, up: true }]);
  });

  it.each([
    ['an unknown sandbox is gone', () => newId()],
    [
      'a sandbox with a similar id is gone',
      () => given().sandbox.id.replace(/.$/, (last) => (last === '0' ? '1' : '0')) as Up['id'],
    ],
  ])('says that %s', async (_, id) => {
    expect(await given().harness.runtime.inspect(id())).toEqual({ kind: 'gone' });
  });

  it.each([
    'kind',
    'isolation',
    'tools',
    'pause',
    'resume',
    'egress',
    'limits',
    'export',
    'survivesRestart',
  ] as const)('publishes %s of its capabilities', (name) =>
    expect(given().harness.runtime.capabilities[name]).toBeDefined(),
  );

  it('freezes exactly where it says that a pause keeps memory', () => {
    const { pause, resume } = given().harness.runtime.capabilities;
    expect(given().harness.runtime.freezer !== undefined).toBe(pause.includes('memory'));
    expect(resume.memory).toBe(pause.includes('memory') ? 'thaw' : null);
    expect(pause).toContain('files');
  });

  it.each(['memory', 'processes', 'cpu', 'fileSize', 'workspace'] as const)(
    'says how its limit of %s holds',
    (name) => {
      expect(['sandbox', 'process', 'watched', 'none']).toContain(
        given().harness.runtime.capabilities.limits[name],
      );
    },
  );

  it('finds nothing left over beside a sandbox, and touches none', async () => {
    expect((await given().harness.runtime.removeLeftovers?.()) ?? []).toEqual([]);
    expect((await runInside(given().sandbox, 'echo here')).stdout).toBe('here\n');
  });
}
