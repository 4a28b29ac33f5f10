/**
 * Reading beside a running engine, or without one.
 * Owns nothing but the choice of what may be read.
 */
import { existsSync } from 'node:fs';
import { ParleyError } from '../../core/parley-error.ts';
import { placementText } from '../../core/placement/placement-text.ts';
import { amendedPlanId } from '../../core/run/amend/amended-plan-id.ts';
import { systemClock } from '../../engine/system-clock.ts';
import type { SealKey } from '../../store/access/seal-key.ts';
import { createKeyMinter } from '../../store/spend/key-minter.ts';
import type { Store } from '../../store/open-store.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { deployedFiles, type DeployedFiles } from '../deployed-files.ts';
import type { Reader } from '../host-port.ts';
import { placesOf } from '../sandboxes/places.ts';
import { readDeployedStore } from '../follow/config-store.ts';
import { troubledRows } from '../troubled-rows.ts';

/** Null when nothing was ever stored. @throws ParleyError store_unavailable */
export async function openReader(config: DeploymentConfig): Promise<Reader | null> {
  const store = await readDeployedStore(config);
  if (store === null) return null;
  const files = deployedFiles(config);
  const close = async (): Promise<void> => {
    await files.close();
    await store.close();
  };
  return { ...readerOf(store, config, files), close };
}

export function readerOf(
  store: Store,
  config: DeploymentConfig,
  { results }: Pick<DeployedFiles, 'results'>,
): Omit<Reader, 'close'> {
  const { records, plans, events, lifecycle, activity } = store;
  const rows = troubledRows(store);
  return {
    run: (id) => rows.run(id),
    runs: () => records.runs(),
    runItems: (id) => rows.runItems(id),
    plan: async (id) => {
      const [plan, row] = await Promise.all([plans.plan(id), records.run(id)]);
      const isAmended = plan !== null && row !== null && row.planHash !== plan.hash;
      return isAmended ? await plans.plan(amendedPlanId(id, row.planHash)) : plan;
    },
    events: (id, page) => events.events(id, page),
    placement: async (id) => {
      const decision = await store.placement.decision(id);
      return decision === null ? null : placementText(decision);
    },
    lifecycleEvents: (id) => lifecycle.lifecycleEvents(id),
    runEvents: (id) => lifecycle.runEvents(id),
    lastActivityAt: (id) => activity.lastActivityAt(id),
    results,
    draw: async (id, form) => {
      const { drawReport } = await import('../../activities/report-run.ts');
      const sealKey = await sealKeyToRead(config, 'draw a report');
      const { spend } = store;
      const ports = {
        records,
        plans,
        events,
        spend,
        results,
        vault: store.vault(sealKey),
        keys: createKeyMinter(sealKey),
      };
      return await drawReport({ ...ports, clock: systemClock }, id, form);
    },
  };
}

/**
 * A process that only reads makes no key: a store of which it is missing belongs to another machine.
 * @throws ParleyError config_invalid
 */
export async function sealKeyToRead({ dataDir }: DeploymentConfig, doing: string): Promise<SealKey> {
  const { loadSealKey } = await import('../../store/access/seal-key.ts');
  const [env, file] = [process.env['PARLEY_SEAL_KEY'], placesOf(dataDir).sealKeyFile];
  if ((env === undefined || env === '') && !existsSync(file))
    throw new ParleyError('config_invalid', `Cannot ${doing}: there is no seal key in "${file}"`, {
      remedy: 'give it as PARLEY_SEAL_KEY: without it nobody knows which values of secrets to hide',
    });
  return loadSealKey({ env, path: file });
}
