/**
 * Servers that skip time, handed on from one play to the next: a fresh one is a Java that has everything still to load.
 * Owns which of them wait, and what one has to show before it is used again.
 */
import { startSkippingServer, type SkippingServer } from './skipping-server.ts';

/** A clock that is free leaps so far at once; one that somebody holds goes at the pace of the real one. */
const LEAP_MS = 600_000;
/** So long an answer may take on a machine that is busy with other tests. */
const LEAP_MAX_MS = 5_000;

export class WarmServers {
  private readonly waiting: SkippingServer[] = [];

  /** One that somebody gave back and whose clock is free, or a fresh one. */
  async take(program: string): Promise<SkippingServer> {
    for (let server = this.waiting.pop(); server !== undefined; server = this.waiting.pop()) {
      if (await leaps(server)) return server;
      await server.stop();
    }
    return await startSkippingServer(program);
  }

  /** Nothing that was played on it may go on. */
  giveBack(server: SkippingServer): void {
    this.waiting.push(server);
  }

  /** Ends those that wait. */
  async stop(): Promise<void> {
    await Promise.all(this.waiting.splice(0).map((server) => server.stop()));
  }
}

/** Something that a play left under way on the server holds its clock for ever. */
async function leaps({ env }: SkippingServer): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), LEAP_MAX_MS);
  });
  const leapt = env.sleep(LEAP_MS).then(
    () => true,
    () => false,
  );
  return await Promise.race([leapt, late]).finally(() => clearTimeout(timer));
}
