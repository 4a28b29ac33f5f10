/**
 * Which program runs as the Agent Server of a sandbox.
 * Owns the choice, and telling the one that starts OpenHands which Python to use: a sandbox inherits no environment.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { builtProgram, type Places } from './places.ts';

/** Path of the program, in one file. */
export function agentProgram({ agent }: DeploymentConfig, places: Places): string {
  switch (agent.kind) {
    case 'reference':
      return builtProgram('agent-server.cjs');
    case 'openhands':
      return withPython(agent.python, places);
    default:
      return agent.kind satisfies never;
  }
}

/** The program with the interpreter in front of it, written where sandboxes of this directory find it again. */
function withPython(python: string, { dataDir }: Places): string {
  const given = `globalThis.parleyOpenhandsPython = ${JSON.stringify(python)};\n`;
  const text = given + readFileSync(builtProgram('agent-openhands.cjs'), 'utf8');
  const folder = join(dataDir, 'programs');
  const mark = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const file = join(folder, `agent-openhands-${mark}.cjs`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
  return file;
}
