/**
 * Whether the ports that an engine of this deployment listens on are free.
 * Owns the try; where an engine of this very deployment runs, they are its own, and nobody else is to take them.
 */
import net from 'node:net';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { failed, passed, type Finding } from '../finding.ts';

const CHECK = 'port';

interface PortToOpen {
  readonly name: string;
  /** How it is set. */
  readonly key: string;
  readonly host: string;
  readonly port: number;
}

/** `controlSocket` is where an engine of this deployment listens, when one runs. */
export async function checkPorts(
  config: DeploymentConfig,
  controlSocket: string,
): Promise<readonly Finding[]> {
  const wishes = portsToOpen(config);
  if (wishes.length === 0 || (await answers(controlSocket))) return [];
  return await Promise.all(wishes.map(checkPort));
}

function portsToOpen({ proxyPort, engine }: DeploymentConfig): readonly PortToOpen[] {
  const { metrics } = engine.temporal;
  return [
    ...(proxyPort === null
      ? []
      : [{ name: 'proxy port', key: 'proxy.port', host: '127.0.0.1', port: proxyPort }]),
    ...(metrics === null || engine.kind !== 'temporal'
      ? []
      : [{ name: 'metrics port', key: 'engine.metrics', ...metrics }]),
  ];
}

async function checkPort({ name, key, host, port }: PortToOpen): Promise<Finding> {
  const reason = await new Promise<string | null>((resolve) => {
    const server = net.createServer();
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'unknown'));
    server.listen(port, host, () => server.close(() => resolve(null)));
  });
  const detail = `${name} ${port}`;
  switch (reason) {
    case null:
      return passed(CHECK, `${detail} is free`);
    case 'EACCES':
      return failed(CHECK, `${detail} is not for this user`, `choose a ${key} above 1023`);
    case 'EADDRNOTAVAIL':
      return failed(CHECK, `${detail}: this machine has no address ${host}`, `correct ${key}`);
    default:
      return failed(CHECK, `${detail} is taken`, `choose another ${key}, or stop the engine that has it`);
  }
}

async function answers(socketPath: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = net.connect(socketPath);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
