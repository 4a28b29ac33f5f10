/**
 * The way in: who is admitted to what, and how often.
 * Owns the order of the checks. An address that guesses keys has to wait, and callers with a valid key are admitted
 * from it all the same: many callers may share one address.
 */
import type { FastifyRequest } from 'fastify';
import { ParleyError } from '../../core/parley-error.ts';
import type { Application, Principal, SandboxCaller } from './application.ts';
import { callerByKey, callerBySession } from './authentication.ts';
import { RefusalNotes } from '../refusal-notes.ts';
import type { RateLimits } from '../rates/rate-limit.ts';
import type { Access } from './route.ts';
import { SharedBuckets } from '../rates/shared-buckets.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the caller was admitted. */
    caller?: Principal | SandboxCaller | null;
  }
}

/** A wrong key, one whose scope is too small, one with too many requests. */
const REFUSED: ReadonlySet<number> = new Set([401, 403, 429]);

export interface GateOptions {
  readonly limits: RateLimits;
  /** The principal of every request outside the `session` routes; null: each caller has to show an API key. */
  readonly owner: Principal | null;
}

export class Gate {
  private readonly application: Application;
  private readonly owner: Principal | null;
  private readonly perKey: SharedBuckets;
  private readonly refusals: SharedBuckets;
  private readonly notes: RefusalNotes;

  constructor(application: Application, { limits, owner }: GateOptions) {
    this.application = application;
    this.owner = owner;
    const shared = { clock: application.world.clock, meter: application.rateMeter };
    this.perKey = new SharedBuckets(limits.perKey, shared);
    this.refusals = new SharedBuckets(limits.refusals, shared);
    this.notes = new RefusalNotes(application.audit, application.world.clock);
  }

  /** @throws ParleyError unauthorized, forbidden, rate_limited */
  async admit(access: Access, request: FastifyRequest): Promise<Principal | SandboxCaller | null> {
    if (access === 'open') return null;
    try {
      return await this.admitted(access, request);
    } catch (error) {
      if (error instanceof ParleyError && REFUSED.has(error.status))
        await this.notes.note({ about: placeOf(request), status: error.status });
      throw error;
    }
  }

  private async admitted(access: Access, request: FastifyRequest): Promise<Principal | SandboxCaller> {
    const caller = await this.identify(access, request);
    const name = caller.kind === 'key' ? `key/${caller.keyId}` : `sandbox/${caller.sandboxId}`;
    await this.perKey.take(name);
    if (access === 'admin' && (caller.kind !== 'key' || caller.scope !== 'admin'))
      throw new ParleyError('forbidden', 'Cannot do this: it takes a key of the scope "admin"');
    return caller;
  }

  private async identify(access: Access, request: FastifyRequest): Promise<Principal | SandboxCaller> {
    try {
      if (access !== 'session' && this.owner !== null) return this.owner;
      if (access !== 'session')
        return await callerByKey(this.application, request, {
          alsoSessionHeader: access === 'keyInEither',
        });
      const { sandbox_id: id = '' } = request.params as { readonly sandbox_id?: string };
      return await callerBySession(this.application, request, id);
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'unauthorized')
        await this.refusals.take(`address/${request.ip}`);
      throw error;
    }
  }
}

/** The route's own address: what stands in its place may be anything. */
function placeOf({ method, routeOptions, ip }: Partial<FastifyRequest>): string {
  return `${method ?? 'GET'} ${routeOptions?.url ?? 'a stream'} from ${ip}`;
}
