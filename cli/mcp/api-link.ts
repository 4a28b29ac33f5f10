/**
 * The application API of a deployment, wherever it is: a service at an address, the process that owns the data directory,
 * or this process itself.
 * Owns that all three are one client; what is opened is closed with the link.
 */
import { Agent, fetch as fetchOver } from 'undici';
import { createClient, type Client } from '../../api/client/client.ts';
import type { EngineKind } from '../../host/config/deployment-config.ts';
import { withLocalApi } from '../../host/owner/owner-desk.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import { printable } from '../../host/terminal-text.ts';
import { serverAddress, type ServerOptions } from '../server/server-address.ts';
import type { Shell } from '../../host/shell.ts';
import type { Host } from '../../host/host-port.ts';

export interface ApiLinkOptions extends ServerOptions {
  readonly config?: string;
  readonly engine?: EngineKind;
}

export interface ApiLink {
  readonly client: Client;
  readonly isHere: boolean;
  /** Keys, which must stand in no answer. */
  readonly hidden: readonly string[];
  /** Rejects when the engine of this process cannot go on. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** @throws CliError; ParleyError as HostPort.openHost says */
export async function openApiLink(shell: Shell, options: ApiLinkOptions): Promise<ApiLink> {
  const address = serverAddress(shell, options);
  if (address !== null)
    return {
      client: createClient(address),
      isHere: false,
      hidden: [address.key],
      ended: new Promise(() => undefined),
      close: () => Promise.resolve(),
    };
  const { config: path, engine } = options;
  const config = await openDeployment(shell, { path, startsProxy: true, engine });
  const port = await shell.hostPort();
  const onNotice = (text: string): void => void shell.stderr.write(`${printable(text)}\n`);
  const host = await port.openHost(config, { onNotice });
  const over = socketFetch(host);
  return {
    // The file of the socket is the authority: no key is asked for there.
    client: createClient({ url: 'http://parley', key: 'none', fetch: over.fetch }),
    isHere: true,
    hidden: [],
    ended: host.ended,
    async close() {
      await over.close();
      await host.close();
    },
  };
}

interface SocketFetch {
  readonly fetch: typeof fetch;
  close(): Promise<void>;
}

/** Asked for with each call: the process that serves it may be another one than before. */
function socketFetch(host: Host): SocketFetch {
  let open: { readonly path: string; readonly agent: Agent } | null = null;
  return {
    fetch: (async (input: string, init: object) => {
      const socketPath = await withLocalApi(host).localApi();
      if (open?.path !== socketPath) {
        await open?.agent.destroy();
        open = { path: socketPath, agent: new Agent({ connect: { socketPath }, bodyTimeout: 0 }) };
      }
      return await fetchOver(input, { ...init, dispatcher: open.agent });
    }) as unknown as typeof fetch,
    close: async () => await open?.agent.destroy(),
  };
}
