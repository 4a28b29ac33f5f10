/** The simulator reaches nothing real: clocks, timers, chance and sockets are trapped while it plays 30 days. */
import net from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { MODELS_DEFAULT } from '../../simulator/models/model-options.ts';
import { simulatePlan } from '../../simulator/simulate-plan.ts';
import { question } from './questions.ts';

afterEach(() => vi.restoreAllMocks());

it('asks no real clock, timer, chance or socket', () => {
  const asked: string[] = [];
  const trap = (name: string) => (): never => {
    asked.push(name);
    throw new Error(`Cannot use ${name}: the simulator has its own`);
  };
  vi.spyOn(Date, 'now').mockImplementation(trap('Date.now'));
  vi.spyOn(Math, 'random').mockImplementation(trap('Math.random'));
  vi.spyOn(performance, 'now').mockImplementation(trap('performance.now'));
  for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'fetch'] as const)
    vi.spyOn(globalThis, name).mockImplementation(trap(name));
  vi.spyOn(net, 'connect').mockImplementation(trap('net.connect'));
  vi.spyOn(net, 'createServer').mockImplementation(trap('net.createServer'));
  vi.spyOn(net.Socket.prototype, 'connect').mockImplementation(trap('Socket.connect'));
  const answer = simulatePlan({ ...question(20), models: MODELS_DEFAULT, checks: true });
  vi.restoreAllMocks();
  expect(asked).toEqual([]);
  expect(answer.phase).toBe('finished');
});
