/**
 * The attempts of tools on their own Agent Server in a container: beside it they succeed.
 * Owns the cases; a test file says how its runtime is made.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runInside } from '../contract/runtime-inside.ts';
import type { InsideCall } from '../contract/runtime-inside.ts';
import { newRequest } from '../contract/runtime-suite.ts';
import type { RuntimeHarness } from '../contract/runtime-suite.ts';
import { ESCAPED } from './probe.ts';
import type { EscapeTargets, Probe } from './probe.ts';
import { SERVER_PROBES } from './server-probes.ts';

/** What needs a list of processes of its own, which a container cannot give its tools. */
export const SEEN: readonly string[] = ['sees the Agent Server'];
/** The log of a container is the daemon's or the node's. */
const ON_PLAIN_ONLY: readonly string[] = ['writes to the log of the sandbox'];

type Create = () => Promise<RuntimeHarness>;

/** The same user: so the list can fail. */
export function describeBeside(create: Create): void {
  const attempted = withSandbox(create);
  const getThrough = SERVER_PROBES.filter(
    ({ name, onPlain }) => onPlain === 'escapes' && !ON_PLAIN_ONLY.includes(name),
  );
  for (const probe of getThrough)
    it(`lets through what ${probe.name}`, async () => expect(await attempted(probe)).toContain(ESCAPED));
  it('says that they are beside', () =>
    expect(attempted.harness().runtime.capabilities.tools).toBe('beside'));
}

function withSandbox(
  create: Create,
): ((probe: Probe) => Promise<string>) & { harness: () => RuntimeHarness } {
  let harness: RuntimeHarness;
  let call: InsideCall;
  beforeAll(async () => {
    harness = await create();
    const request = newRequest();
    call = { address: await harness.runtime.start(request), sessionKey: request.sessionKey };
  });
  afterAll(async () => {
    for (const { sandboxId } of await harness.runtime.list()) await harness.runtime.destroy(sandboxId);
    await harness.close();
  });
  // None of these attempts is after anything of the host.
  const attempt = async (probe: Probe): Promise<string> =>
    (await runInside(call, probe.script({} as EscapeTargets))).stdout;
  return Object.assign(attempt, { harness: () => harness });
}
