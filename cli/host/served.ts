/**
 * The application API of a host, where one is asked for.
 * Owns that it is loaded only then; its parts are put together in `cli/serve/`.
 */
import type { ApplicationFacts, HostOptions } from '../host-port.ts';
import type { ServedParts } from '../serve/open-application.ts';

/** Last, so that nobody is answered before everything behind it works. */
export async function openServed(
  { application }: HostOptions,
  parts: ServedParts,
): Promise<ApplicationFacts | null> {
  if (application === undefined) return null;
  const { openApplication } = await import('../serve/open-application.ts');
  return await openApplication(application, parts);
}
