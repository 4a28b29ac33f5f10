/** Every operation of the OpenAPI document, tried with what fits its schemas and with what does not. */
import { expect, it } from 'vitest';
import { ParleyError } from '../../core/parley-error.ts';
import type { Notifier } from '../../ports/notifier.ts';
import { describeWith } from '../helpers/requires.ts';
import { tryOut } from './schemathesis.ts';
import { openService, startReady } from './service.ts';

/** Cases of one operation; all phases together make some thousands once this is set to 60 or more. */
const LONG = process.env['PARLEY_SCHEMATHESIS_EXAMPLES'];
const EXAMPLES = Number(LONG ?? 4);
/** The phase of every boundary of every field alone makes thousands of cases. */
const PHASES = LONG === undefined ? 'examples,fuzzing,stateful' : 'examples,coverage,fuzzing,stateful';
const CASES_MIN = LONG === undefined ? 300 : 5_000;
const NO_LIMIT = { burst: 1e9, perSecond: 1e9 };
const ROOM = { installationMax: 1e6, userMax: 1e6, conversationsPerSandboxMax: 20 };

describeWith('schemathesis', 'Schemathesis, all checks, stateful', () => {
  it('finds no server error, no undocumented status and no answer against its schema', async () => {
    const kept = new Set<string>();
    const service = await openService({
      requests: (engine) => keeping(engine, kept),
      rateLimits: { perKey: NO_LIMIT, refusals: NO_LIMIT },
      deployment: { capacity: ROOM },
    });
    const { apiKeys } = service.application;
    // The key of the calls themselves stays, whatever is revoked.
    const remove: typeof apiKeys.remove = (user, keyId) =>
      keyId === 1 ? Promise.resolve(false) : service.store.apiKeys.remove(user, keyId);
    Object.assign(service.application, { apiKeys: { ...apiKeys, remove } });
    const { id: conversationId, sandboxId } = await startReady(service);
    kept.add(conversationId).add(sandboxId);
    const { body } = await service.call({ path: `/api/v1/sandboxes?id=${sandboxId}` });
    const { exitCode, cases, report } = await tryOut({
      url: service.server.url,
      key: service.ada,
      conversationId,
      sandboxId,
      sessionKey: body[0].session_api_key,
      examples: EXAMPLES,
      phases: PHASES,
    });
    expect(exitCode, report).toBe(0);
    expect(cases).toBeGreaterThanOrEqual(CASES_MIN);
    expect(service.lines.filter(({ status }) => status >= 500)).toEqual([]);
  }, 3_000_000);
});

/** What needs a conversation at work finds one, whatever is deleted: these cannot be found by who deletes. */
function keeping(engine: Notifier, ids: ReadonlySet<string>): Notifier {
  return {
    deliver: (delivery) =>
      delivery.event.type === 'deleteRequested' && ids.has(delivery.to.id)
        ? Promise.reject(new ParleyError('not_found', 'It stays'))
        : engine.deliver(delivery),
  };
}
