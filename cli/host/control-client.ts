/**
 * Speaking to the engine that owns a data directory.
 * Owns the call over its socket; nobody listening means no engine is running.
 */
import { Client } from 'undici';
import { ParleyError } from '../../core/parley-error.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import type { HostPort } from '../host-port.ts';
import { placesOf } from './places.ts';

const NOBODY_THERE = new Set(['ENOENT', 'ECONNREFUSED']);

export const sendControl: HostPort['control'] = async (config: DeploymentConfig, request) => {
  const client = new Client('http://engine', { socketPath: placesOf(config.dataDir).controlSocket });
  try {
    const response = await client.request({
      method: 'POST',
      path: '/control',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });
    const text = await response.body.text();
    if (response.statusCode === 200) return true;
    throw new ParleyError('invalid_request', `Cannot ask the engine: ${text}`);
  } catch (error) {
    const { code } = error as { readonly code?: string };
    if (code !== undefined && NOBODY_THERE.has(code)) return false;
    throw error;
  } finally {
    await client.close();
  }
};
