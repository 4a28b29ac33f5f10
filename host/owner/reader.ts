/**
 * Reading beside a running engine, or without one.
 * Owns nothing but the choice of what may be read.
 */
import { placementText } from '../../core/placement/placement-text.ts';
import { amendedPlanId } from '../../core/run/amend/amended-plan-id.ts';
import type { Store } from '../../store/open-store.ts';
import { createResultsDirectory } from '../../store/blobs/results-directory.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import type { Reader } from '../host-port.ts';
import { placesOf } from '../sandboxes/places.ts';
import { readDeployedStore } from '../follow/config-store.ts';
import { troubledRows } from '../troubled-rows.ts';

/** Null when nothing was ever stored. @throws ParleyError store_unavailable */
export async function openReader(config: DeploymentConfig): Promise<Reader | null> {
  const store = await readDeployedStore(config);
  if (store === null) return null;
  return { ...readerOf(store, config), close: () => store.close() };
}

export function readerOf(store: Store, config: DeploymentConfig): Omit<Reader, 'close'> {
  const { records, plans, events, lifecycle, activity } = store;
  const results = createResultsDirectory(config.resultsDir, placesOf(config.dataDir).resultsNotes);
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
    resultsLocation: (id) => results.location(id),
  };
}
