/**
 * The product's workflows, with every step reported outside. Bundled for plays under time skipping alone.
 * Owns nothing but the wire: a sink may call twice, so every step has a number within its run.
 */
import { condition, proxySinks, setHandler } from '@temporalio/workflow';
import { announce } from '../../../workflows/carrier.ts';
import { drive } from '../../../workflows/drive.ts';
import { requestUpdate, type DriveInput } from '../../../workflows/envelope.ts';
import type { ObserverSinks } from './observer-sinks.ts';

const { observer } = proxySinks<ObserverSinks>();

function observed(input: DriveInput): Promise<void> {
  return drive(input, (record, number) => observer.step(number, record));
}

export const sandbox = (input: DriveInput): Promise<void> => observed(input);
export const conversation = (input: DriveInput): Promise<void> => observed(input);
export const run = (input: DriveInput): Promise<void> => observed(input);
/** Some items of a large run. */
export const shard = (input: DriveInput): Promise<void> => observed(input);

/** Goes the ways of the others once: a server, a worker and a bundle are slow the first time. */
export async function warmUp(): Promise<void> {
  let asked = false;
  setHandler(requestUpdate, () => void (asked = true));
  const entity = { machine: 'sandbox', id: 'warm-up' } as const;
  await announce({ entity, number: 1, settled: 0, inputs: [], rows: [], envelopes: [], commands: [] });
  await condition(() => asked);
}
