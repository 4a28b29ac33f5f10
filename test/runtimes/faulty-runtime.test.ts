/**
 * The contract of a runtime over a line on which calls fail, or happen without an answer: asked again, it is kept.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import { faultyRuntime, persistentRuntime } from '../contract/faulty-runtime.ts';
import type { CallFault, FaultCounts } from '../contract/faulty-runtime.ts';
import { createProcessHarness } from '../contract/process-harness.ts';
import { describeRuntimeContract } from '../contract/runtime-contract.ts';
import { runInside } from '../contract/runtime-inside.ts';
import { newRequest } from '../contract/runtime-suite.ts';
import type { RuntimeHarness } from '../contract/runtime-suite.ts';

const counts: FaultCounts = { struck: new Map() };

async function createFaultyHarness(): Promise<RuntimeHarness> {
  const harness = await createProcessHarness('none');
  const behind = (runtime: RuntimeHarness['runtime']): RuntimeHarness['runtime'] =>
    persistentRuntime(faultyRuntime(runtime, counts));
  return { ...harness, runtime: behind(harness.runtime), reopen: () => behind(harness.reopen()) };
}

describe('a runtime behind a bad line', () => {
  describeRuntimeContract(createFaultyHarness);

  it('met every fault', () => {
    for (const fault of ['unavailable', 'execute_and_timeout', 'fine'] satisfies CallFault[]) {
      expect(counts.struck.get(fault)).toBeGreaterThan(0);
    }
  });
});

describe('a bad line by itself', () => {
  it('loses the answer of a start, and the next one finds what is up', async () => {
    const harness = await createProcessHarness('none');
    const runtime = faultyRuntime(harness.runtime, { struck: new Map() });
    const request = newRequest();
    onTestFinished(async () => {
      await harness.runtime.destroy(request.sandboxId);
      await harness.close();
    });
    // Unavailable, then done without an answer, then fine.
    await expect(runtime.start(request)).rejects.toMatchObject({ code: 'runtime_unreachable' });
    expect((await harness.runtime.inspect(request.sandboxId)).kind).toBe('gone');
    await expect(runtime.start(request)).rejects.toMatchObject({ code: 'runtime_unreachable' });
    const address = await runtime.start(request);
    expect(await harness.runtime.inspect(request.sandboxId)).toMatchObject({ kind: 'up', address });
    const boots = await runInside(
      { address, sessionKey: request.sessionKey },
      'wc -l < "$OH_CONVERSATIONS_PATH/boots"',
    );
    expect(Number(boots.stdout)).toBe(1);
  });
});
