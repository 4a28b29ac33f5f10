/**
 * Requests at a fixed rate, or streams side by side for a time, from this process.
 * Owns the pacing; latencies are of whole calls and start at the planned instant, so that a stall is not hidden.
 */
import { Pool } from 'undici';
import type { Contender } from './contenders.ts';

export interface Latencies {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly errors: number;
}

export async function pacedLoad(
  contender: Contender,
  options: { readonly body: string; readonly perSecond: number; readonly seconds: number },
): Promise<Latencies> {
  const pool = new Pool(contender.url, { connections: 256 });
  const total = options.perSecond * options.seconds;
  const latencies: number[] = [];
  let errors = 0;
  const from = performance.now();
  const one = async (plannedMs: number): Promise<void> => {
    const status = await post(pool, contender, options.body).catch(() => 0);
    if (status === 200) latencies.push(performance.now() - plannedMs);
    else errors += 1;
  };
  const running: Promise<void>[] = [];
  for (let sent = 0; sent < total;) {
    const due = Math.min(total, Math.floor(((performance.now() - from) / 1_000) * options.perSecond) + 1);
    for (; sent < due; sent += 1) running.push(one(from + (sent / options.perSecond) * 1_000));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(running);
  await pool.close();
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99), errors };
}

/** Streams until `seconds` are over; `atOnce` of them at any time. Returns how many ended well and badly. */
export async function soakLoad(
  contender: Contender,
  options: { readonly body: string; readonly atOnce: number; readonly seconds: number },
): Promise<{ readonly ended: number; readonly errors: number }> {
  const pool = new Pool(contender.url, { connections: options.atOnce });
  const until = performance.now() + options.seconds * 1_000;
  const sums = { ended: 0, errors: 0 };
  const caller = async (): Promise<void> => {
    while (performance.now() < until) {
      const status = await post(pool, contender, options.body).catch(() => 0);
      if (status === 200) sums.ended += 1;
      else sums.errors += 1;
    }
  };
  await Promise.all(Array.from({ length: options.atOnce }, caller));
  await pool.close();
  return sums;
}

async function post(pool: Pool, contender: Contender, body: string): Promise<number> {
  const headers = { 'content-type': 'application/json', ...contender.headers };
  const reply = await pool.request({ method: 'POST', path: '/v1/chat/completions', headers, body });
  await reply.body.dump({ limit: Number.MAX_SAFE_INTEGER });
  return reply.statusCode;
}
