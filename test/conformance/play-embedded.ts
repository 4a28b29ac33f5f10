/** Plays a script on the embedded engine, every instant's event settled before the next. Owns nothing but the pace. */
import { START_AT, type Script } from '../../simulator/script.ts';
import { openEmbeddedStage } from './embedded-stage.ts';
import { EntityTraces } from './entity-traces.ts';

export async function playEmbedded(script: Script): Promise<EntityTraces> {
  const traces = new EntityTraces();
  const stage = await openEmbeddedStage(script, (step) => traces.add(step));
  await stage.clock.moveTo(START_AT + script.untilMs, () => stage.settle());
  await stage.close();
  return traces;
}
