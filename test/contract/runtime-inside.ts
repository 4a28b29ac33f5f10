/**
 * Talking to the stand-in Agent Server of a contract test.
 * Owns one HTTP call over the sandbox's address; must not know a runtime.
 */
import { request } from 'node:http';
import type { SandboxAddress } from '../../ports/sandbox-runtime.ts';
import type { InsideResult } from './stand-in-agent.ts';

export interface InsideCall {
  readonly address: SandboxAddress;
  readonly sessionKey: string;
}

/** Runs a shell command inside the sandbox, in its workspace. */
export async function runInside(call: InsideCall, command: string): Promise<InsideResult> {
  const answer = await post(call, '/run', command);
  if (answer.status !== 200) throw new Error(`stand-in agent answered ${answer.status}`);
  return JSON.parse(answer.body) as InsideResult;
}

/** One POST with the session key; a connection that breaks is an error. */
export function post(
  { address, sessionKey }: InsideCall,
  path: string,
  body: string,
): Promise<{ readonly status: number; readonly body: string }> {
  const { agent } = address;
  const server =
    'socketPath' in agent
      ? { socketPath: agent.socketPath }
      : { host: new URL(agent.url).hostname, port: new URL(agent.url).port };
  return new Promise((resolve, reject) => {
    const options = {
      ...server,
      path,
      method: 'POST',
      agent: false,
      headers: { 'x-session-api-key': sessionKey },
    };
    const call = request(options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
      response.on('error', reject);
    });
    call.on('error', reject);
    call.end(body);
  });
}
