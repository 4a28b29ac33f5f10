/**
 * Pods without a process: each answers as an Agent Server that is up, or does not.
 * Owns what a test wants to see of them; for all that needs no sandbox from inside.
 */
import { createServer } from 'node:http';
import type { ContainerEnd, PodRunner } from './kubelet.ts';
import { nextAddress } from './pod-addresses.ts';

const AGENT_PORT = 8_000;

export interface ScriptedRunner extends PodRunner {
  /** What `/health` answers. */
  health: number;
  /** Log of every pod. */
  text: string;
  /** Names of the pods that were run, in order. */
  readonly ran: readonly string[];
  readonly removedVolumes: readonly string[];
}

export function createScriptedRunner(): ScriptedRunner {
  const ran: string[] = [];
  const removedVolumes: string[] = [];
  const runner: ScriptedRunner = {
    health: 200,
    text: '',
    ran,
    removedVolumes,
    async run({ metadata }) {
      ran.push(metadata.name);
      const address = nextAddress();
      const server = createServer((request, response) => {
        response
          .writeHead(request.url === '/health' ? runner.health : 200)
          .end(`workspace of ${metadata.name}`);
      });
      await new Promise<void>((resolve) => server.listen(AGENT_PORT, address, resolve));
      let tellEnd: (end: ContainerEnd) => void = () => undefined;
      const ended = new Promise<ContainerEnd>((resolve) => (tellEnd = resolve));
      return {
        address,
        ended,
        stop() {
          server.closeAllConnections();
          return new Promise((resolve) => {
            server.close(() => {
              tellEnd({ exitCode: 0, reason: 'Completed' });
              resolve();
            });
          });
        },
      };
    },
    log: () => runner.text,
    removeVolume: (uid) => Promise.resolve(void removedVolumes.push(uid)),
  };
  return runner;
}
