/**
 * Servers that skip time, passed on from one play to the next: a fresh one is a Java that has everything still to load.
 * Owns which of them wait, and what one has to show before it is used again.
 */
import { startSkippingServer, type SkippingServer } from './skipping-server.ts';

/** A clock that is free leaps so far at once; one that is held goes at the pace of the real one. */
const LEAP_MS = 600_000;
/** So long an answer may take on a machine that is busy with other tests. */
const LEAP_MAX_MS = 10_000;

/** Not needed any more; such a server refuses a connection that was silent for two minutes. */
const WAITS_MAX_MS = 60_000;

export class WarmServers {
  private readonly waiting = new Map<SkippingServer, NodeJS.Timeout>();

  /** One that a play gave back and whose clock is free, or a fresh one. */
  async take(program: string): Promise<SkippingServer> {
    for (const [server] of this.waiting) {
      this.forget(server);
      if (await leaps(server)) return server;
      await server.stop();
    }
    return await startSkippingServer(program);
  }

  /** Nothing that was played on it may go on. */
  giveBack(server: SkippingServer): void {
    const end = (): void => {
      this.forget(server);
      void server.stop();
    };
    this.waiting.set(server, setTimeout(end, WAITS_MAX_MS).unref());
  }

  /** Ends those that wait. */
  async stop(): Promise<void> {
    const servers = [...this.waiting.keys()];
    for (const server of servers) this.forget(server);
    await Promise.all(servers.map((server) => server.stop()));
  }

  private forget(server: SkippingServer): void {
    clearTimeout(this.waiting.get(server));
    this.waiting.delete(server);
  }
}

/** Something that a play left under way on the server holds its clock for ever. */
async function leaps({ env }: SkippingServer): Promise<boolean> {
  try {
    // Given up by the connection itself: a call that is still under way when it is closed is tried again, and throws.
    await env.connection.withDeadline(Date.now() + LEAP_MAX_MS, () => env.sleep(LEAP_MS));
    return true;
  } catch {
    return false;
  }
}
