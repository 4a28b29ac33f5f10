/**
 * The process that hosts engines on servers that skip time, for plays of another process that calls them.
 * Owns the engines by their numbers; it ends with whoever started it.
 */
import { ParleyError } from '../../core/parley-error.ts';
import { failureOf, type EngineCall, type EngineReply, type EngineValue } from './engine-call.ts';
import type { OrderedEngine } from './engine-order.ts';
import { findTestServer } from './find-test-server.ts';
import { installQuietRuntime } from './quiet-runtime.ts';
import type { NumberedCall, NumberedReply } from './relay-calls.ts';
import { openSkippingEngine } from './skipping-engine.ts';

/** An engine that is being opened is known as well: whoever waits no longer closes it all the same. */
type Engines = Map<number, Promise<OrderedEngine>>;

/** Answers every message with one of its own. */
export function serveEngines(): void {
  installQuietRuntime();
  const engines: Engines = new Map();
  process.on('message', ({ number, call }: NumberedCall) => {
    void replyTo(engines, call).then((reply) => process.send?.({ number, reply } satisfies NumberedReply));
  });
  // Whoever called is gone, however it went; servers are ended as this process ends.
  process.on('disconnect', () => process.exit(0));
}

async function replyTo(engines: Engines, call: EngineCall): Promise<EngineReply> {
  try {
    return { ok: true, value: await carryOut(engines, call) };
  } catch (error) {
    return { ok: false, failure: failureOf(error) };
  }
}

async function carryOut(engines: Engines, call: EngineCall): Promise<EngineValue> {
  if (call.call === 'open') return await open(engines, call);
  const engine = await engines.get(call.engine);
  if (engine === undefined)
    throw new ParleyError('internal', 'Cannot play on Temporal: there is no such engine');
  if (call.call === 'perform') return await engine.perform(call.orders);
  engines.delete(call.engine);
  await engine.close();
  return null;
}

async function open(
  engines: Engines,
  { engine: number, eventsMax }: Extract<EngineCall, { call: 'open' }>,
): Promise<EngineValue> {
  const server = { pid: 0 };
  const opening = findTestServer(process.env).then((testServer) =>
    openSkippingEngine({
      testServer,
      ...(eventsMax === null ? {} : { eventsMax }),
      onServer: (pid) => void (server.pid = pid),
    }),
  );
  engines.set(number, opening);
  const { startAt } = await opening;
  return { startAt, pid: server.pid };
}
