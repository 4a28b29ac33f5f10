/**
 * The way in: who is admitted to what, and how often.
 * Owns the order of the checks. An address that guesses is told to wait, and whoever has a key is admitted beside it:
 * many callers may share one address.
 */
import type { FastifyRequest } from 'fastify';
import { ParleyError } from '../../core/parley-error.ts';
import type { Application, Principal, SandboxCaller } from './application.ts';
import { callerByKey, callerBySession } from './authentication.ts';
import { Buckets, type RateLimits } from './rate-limit.ts';
import type { Access } from './route.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once somebody was admitted. */
    caller?: Principal | SandboxCaller | null;
  }
}

export class Gate {
  private readonly application: Application;
  private readonly perKey: Buckets;
  private readonly refusals: Buckets;

  constructor(application: Application, limits: RateLimits) {
    this.application = application;
    this.perKey = new Buckets(limits.perKey, application.world.clock);
    this.refusals = new Buckets(limits.refusals, application.world.clock);
  }

  /** @throws ParleyError unauthorized, forbidden, rate_limited */
  async admit(access: Access, request: FastifyRequest): Promise<Principal | SandboxCaller | null> {
    if (access === 'open') return null;
    const caller = await this.identify(access, request);
    const name = caller.kind === 'key' ? `key/${caller.keyId}` : `sandbox/${caller.sandboxId}`;
    this.perKey.take(name);
    if (access === 'admin' && (caller.kind !== 'key' || caller.scope !== 'admin'))
      throw new ParleyError('forbidden', 'Cannot do this: it takes a key of the scope "admin"');
    return caller;
  }

  private async identify(access: Access, request: FastifyRequest): Promise<Principal | SandboxCaller> {
    try {
      if (access !== 'session')
        return await callerByKey(this.application, request, {
          alsoSessionHeader: access === 'keyInEither',
        });
      const { sandbox_id: id = '' } = request.params as { readonly sandbox_id?: string };
      return await callerBySession(this.application, request, id);
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'unauthorized') this.refusals.take(request.ip);
      throw error;
    }
  }
}
