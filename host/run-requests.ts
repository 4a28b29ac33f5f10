/**
 * Starting runs and sending events to them, the same on both engines.
 * Owns that a run stays on the engine it was begun on, and that a request is in the rows before a caller waits.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { sealRunSecrets } from '../activities/run-secrets.ts';
import { LOCAL_USER } from '../activities/start-conversation.ts';
import type { RunId } from '../core/ids.ts';
import { ParleyError } from '../core/parley-error.ts';
import type { RunRow } from '../core/machine/projection.ts';
import { amendedPlanId } from '../core/run/amend/amended-plan-id.ts';
import { runSpec, runSetting } from '../core/run/run-spec.ts';
import type { Notifier } from '../ports/notifier.ts';
import type { SecretVault } from '../ports/secret-vault.ts';
import type { Store } from '../store/open-store.ts';
import type { EngineKind } from './config/deployment-config.ts';
import type { Host } from './host-port.ts';
import { environmentSecrets } from './secret-source.ts';
import { isAtRest } from './run-watch.ts';

export interface RunRequestParts {
  readonly store: Store;
  readonly kind: EngineKind;
  readonly requests: Notifier;
  /** As it is when a run begins (D29). */
  readonly deployment: Parameters<typeof runSetting>[0];
  readonly vault: Pick<SecretVault, 'put'>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** On Temporal the rows of a request may come after its acknowledgement; a run that rests always changes. */
const CHANGE_MS_MAX = 10_000;
/** A finished run with nothing to take up does not change: this long it might have been late. */
const FINISHED_CHANGE_MS_MAX = 1_000;
const POLL_MS = 25;

export function runRequests(parts: RunRequestParts): Pick<Host, 'startRun' | 'tellRun'> {
  const { store, kind, requests, deployment, vault, env } = parts;
  return {
    async startRun(runId, plan, secrets = environmentSecrets(plan, env)) {
      await requireOwn(store, kind, runId);
      const isAmended = (await store.plans.plan(amendedPlanId(runId, plan.hash))) !== null;
      if (!isAmended) await store.plans.putPlan(runId, plan);
      await sealRunSecrets(vault, runId, secrets);
      const spec = runSpec(plan, { runId, userId: LOCAL_USER, setting: runSetting(deployment) });
      await requests.deliver({ to: { machine: 'run', id: runId }, event: { type: 'runStarted', spec } });
    },
    async tellRun(runId, event, amended) {
      const before = await requireOwn(store, kind, runId);
      if (before === null) throw new ParleyError('not_found', `Cannot find the run "${runId}"`);
      if (amended !== undefined) await store.plans.putPlan(amendedPlanId(runId, amended.hash), amended);
      // The process that resumes may have other values than the one that began.
      const plan = event.type === 'resumeRequested' ? await store.plans.plan(runId) : null;
      if (plan !== null) await sealRunSecrets(vault, runId, environmentSecrets(plan, env));
      await requests.deliver({ to: { machine: 'run', id: runId }, event });
      if (kind === 'temporal' && isAtRest(before)) await changed(store, before);
    },
  };
}

async function changed({ records }: Store, { runId, sequence, phase }: RunRow): Promise<void> {
  const until = Date.now() + (phase === 'finished' ? FINISHED_CHANGE_MS_MAX : CHANGE_MS_MAX);
  while ((await records.run(runId))?.sequence === sequence && Date.now() < until) await pause(POLL_MS);
}

/** Its row, or null. An entity of the embedded engine is in the store from its first moment, one on Temporal at its end. */
async function requireOwn(
  { records, engine }: Store,
  kind: EngineKind,
  runId: RunId,
): Promise<RunRow | null> {
  const row = await records.run(runId);
  if (row === null) return null;
  const stored = await engine.load({ machine: 'run', id: runId });
  if (stored?.done === true) return row;
  const begunOn: EngineKind = stored === null ? 'temporal' : 'embedded';
  if (begunOn === kind) return row;
  const message = `Cannot go on with the run "${runId}" on the engine "${kind}": it was begun on "${begunOn}"`;
  throw new ParleyError('engine_misconfigured', message, {
    remedy: `add --engine ${begunOn}, or set engine.kind to it`,
  });
}
