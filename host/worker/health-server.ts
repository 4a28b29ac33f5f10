/**
 * What a supervisor queries of a worker: whether the process goes on, and whether it takes work now.
 * Owns the two answers; must not report anything else.
 */
import Fastify from 'fastify';
import { listening } from '../listening.ts';

export interface HealthServerOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** False once the engine cannot go on: the process should be replaced. */
  isHealthy(): boolean;
  /** False while it starts or stops, or while its server does not answer. */
  isReady(): Promise<boolean>;
}

/** Answers probes of a worker. */
export interface HealthServer {
  /** Address with the port in use. */
  readonly url: string;
  close(): Promise<void>;
}

/** @throws CliError when the address cannot be listened on */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const { host, port } = options;
  const app = Fastify({ logger: false, forceCloseConnections: true });
  app.get('/healthz', (_request, reply) => {
    const isHealthy = options.isHealthy();
    return reply.code(isHealthy ? 200 : 503).send({ healthy: isHealthy });
  });
  app.get('/readyz', async (_request, reply) => {
    const isReady = await options.isReady();
    return reply.code(isReady ? 200 : 503).send({ ready: isReady });
  });
  const url = await listening({ host, port, prefix: 'health-' }, () => app.listen({ host, port }));
  return { url, close: () => app.close() };
}
