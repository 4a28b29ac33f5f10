/**
 * What every dialect of the store must do, as one list of tests.
 * Owns the order of its parts; each part is a file of its own.
 */
import type { OpenEmptyStore } from './store-harness.ts';
import { accountsSuite } from './store-suite-accounts.ts';
import { engineSuite } from './store-suite-engine.ts';
import { eventSuite } from './store-suite-events.ts';
import { hostSuite } from './store-suite-hosts.ts';
import { pinSuite } from './store-suite-pins.ts';
import { lostHostSuite } from './store-suite-lost-hosts.ts';
import { idempotencySuite } from './store-suite-idempotency.ts';
import { journalSuite } from './store-suite-journal.ts';
import { overviewSuite } from './store-suite-overview.ts';
import { partsSuite } from './store-suite-parts.ts';
import { configurationSuite } from './store-suite-configuration.ts';
import { dutySuite } from './store-suite-duties.ts';
import { leaseSuite } from './store-suite-leases.ts';
import { lineSuite } from './store-suite-line.ts';
import { placementSuite } from './store-suite-placement.ts';
import { poolSuite } from './store-suite-pools.ts';
import { recordSuite } from './store-suite-records.ts';
import { searchSuite } from './store-suite-search.ts';
import { startSuite } from './store-suite-starts.ts';
import { spendSuite } from './store-suite-spend.ts';
import { troubleSuite } from './store-suite-troubles.ts';
import { vaultSuite } from './store-suite-vault.ts';
import { warmPoolSuite } from './store-suite-warm-pool.ts';

export function storeSuite(open: OpenEmptyStore): void {
  engineSuite(open);
  partsSuite(open);
  journalSuite(open);
  recordSuite(open);
  searchSuite(open);
  placementSuite(open);
  lineSuite(open);
  warmPoolSuite(open);
  hostSuite(open);
  pinSuite(open);
  lostHostSuite(open);
  poolSuite(open);
  eventSuite(open);
  spendSuite(open);
  accountsSuite(open);
  leaseSuite(open);
  configurationSuite(open);
  dutySuite(open);
  vaultSuite(open);
  troubleSuite(open);
  idempotencySuite(open);
  overviewSuite(open);
  startSuite(open);
}
