/**
 * The application API of a host, where one is wanted: at its address from the beginning, and on a socket of this
 * machine on the first request for it.
 * Owns that it is loaded only then; its parts are put together in `host/serve/`.
 */
import type { ApplicationFacts, HostOptions } from '../host-port.ts';
import type { OpenedApplication, ServedParts } from '../serve/open-application.ts';

export interface Served {
  /** Null when it has no address. */
  readonly facts: ApplicationFacts | null;
  /** As Host.localApi says. */
  localApi(): Promise<string>;
}

/** Last, so that no client is answered before everything behind it works. */
export async function openServed(
  { application: options, simulator, onNotice }: HostOptions,
  { socketPath, ...given }: Omit<ServedParts, 'simulator'> & { readonly socketPath: string },
): Promise<Served> {
  const parts = { ...given, simulator: simulator ?? null };
  const load = () => import('../serve/open-application.ts');
  const opened =
    options === undefined ? null : await (await load()).openApplication({ ...options, onNotice }, parts);
  let opening: Promise<string> | null = null;
  const open = async (): Promise<string> => {
    const { openLocalApi, takenUpApplication } = await load();
    const own: Pick<OpenedApplication, 'application'> = opened ?? (await takenUpApplication(parts));
    await openLocalApi(own.application, { socketPath, closers: parts.closers });
    return socketPath;
  };
  return {
    facts: opened?.facts ?? null,
    async localApi() {
      opening ??= open();
      // What failed once may succeed for the next caller.
      return await opening.catch((error: unknown) => {
        opening = null;
        throw error;
      });
    },
  };
}
