/**
 * Reading beside a running engine, or without one.
 * Owns nothing but the choice of what may be read.
 */
import { openStore, type Store } from '../../store/open-store.ts';
import { createResultsDirectory } from '../../store/results-directory.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import type { Reader } from '../host-port.ts';
import { placesOf } from './places.ts';

/** @throws ParleyError store_unavailable when there is no store yet */
export async function openReader(config: DeploymentConfig): Promise<Reader> {
  const { database } = placesOf(config.dataDir);
  const store = await openStore({ kind: 'sqlite', path: database, readOnly: true });
  return { ...readerOf(store, config), close: () => store.close() };
}

export function readerOf(store: Store, config: DeploymentConfig): Omit<Reader, 'close'> {
  const { records, plans, events, lifecycle, activity } = store;
  const results = createResultsDirectory(config.resultsDir);
  return {
    run: (id) => records.run(id),
    runs: () => records.runs(),
    runItems: (id) => records.runItems(id),
    plan: (id) => plans.plan(id),
    events: (id, page) => events.events(id, page),
    lifecycleEvents: (id) => lifecycle.lifecycleEvents(id),
    runEvents: (id) => lifecycle.runEvents(id),
    lastActivityAt: (id) => activity.lastActivityAt(id),
    resultsLocation: (id) => results.location(id),
  };
}
