/** Plays a script on the embedded engine, every instant's event settled before the next. Owns nothing but the pace. */
import { START_AT } from '../../simulator/script.ts';
import type { ProbedScript } from './probe.ts';
import { openEmbeddedStage } from './embedded-stage.ts';
import { EntityTraces } from './entity-traces.ts';

export async function playEmbedded(script: ProbedScript): Promise<EntityTraces> {
  const traces = new EntityTraces();
  const stage = await openEmbeddedStage(script, (step) => traces.add(step));
  await stage.clock.moveTo(START_AT + script.untilMs, () => stage.settle());
  await stage.close();
  return traces;
}
