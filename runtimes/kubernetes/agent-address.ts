/**
 * How an Agent Server in a pod is reached, and whether it answers.
 * Owns the address and one probe; sends no key, for an address of a pod that is gone may be another pod's.
 */
import { request } from 'node:http';
import type { SandboxAddress, StartSandboxRequest } from '../../ports/sandbox-runtime.ts';
import { BOUND_PORTS, INSIDE, routesOf } from '../on-host/inside-view.ts';
import { PROBE_TIMEOUT_MS } from '../on-host/limits.ts';
import { AGENT_PORT } from './limits.ts';

export function addressOf(
  podAddress: string,
  { sandboxId, generation }: Pick<StartSandboxRequest, 'sandboxId' | 'generation'>,
): SandboxAddress {
  return {
    sandboxId,
    generation,
    agent: { url: urlOf(podAddress) },
    routes: routesOf(BOUND_PORTS),
    workspaceDir: INSIDE.workspace,
  };
}

export function urlOf(podAddress: string): string {
  const host = podAddress.includes(':') ? `[${podAddress}]` : podAddress;
  return `http://${host}:${AGENT_PORT}`;
}

/** True when `GET /health` answered 200. Never throws: anything else is "not yet". */
export async function podAnswers(podAddress: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const url = `${urlOf(podAddress)}/health`;
    const probe = request(url, { timeout: PROBE_TIMEOUT_MS, agent: false }, (response) => {
      resolve(response.statusCode === 200);
      response.destroy();
    });
    probe.on('timeout', () => probe.destroy());
    probe.on('error', () => resolve(false));
    probe.end();
  });
}
