/**
 * A host and the view of a run, opened together: what the host says while it starts is already shown.
 * Owns that both are closed when one fails; must not start a run.
 */
import type { RunId } from '../core/ids.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { DeploymentConfig } from '../host/config/deployment-config.ts';
import type { Host } from '../host/host-port.ts';
import type { Shell } from '../host/shell.ts';
import type { HostFlags } from './command-context.ts';
import { openRunView } from './view/open-run-view.ts';
import type { RunView } from './view/run-view.ts';

interface HostWithView {
  readonly host: Host;
  readonly view: RunView;
}

/** @throws ParleyError data_directory_locked and whatever else keeps a host from starting */
export async function openHostWithView(
  shell: Shell,
  config: DeploymentConfig,
  choice: HostFlags,
): Promise<HostWithView> {
  const opened: { host: Host | null } = { host: null };
  const view = await openRunView({
    shell,
    json: choice.json === true,
    plain: choice.plain === true,
    lastActivityAt: (id) => opened.host?.lastActivityAt(id) ?? Promise.resolve(null),
  });
  const said = new Set<string>();
  const say = (text: string): void => {
    if (said.has(text)) return;
    said.add(text);
    view.notice(text);
  };
  try {
    const port = await shell.hostPort();
    const host = await port.openHost(config, { onNotice: say });
    opened.host = host;
    for (const warning of host.warnings) say(warning);
    return { host, view };
  } catch (error) {
    view.close();
    throw error;
  }
}

/** Both are closed when `work` fails. */
export async function orClose<Value>(
  { host, view }: HostWithView,
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    view.close();
    // Why it failed counts, not how the host ends.
    await host.close().catch(() => undefined);
    throw error;
  }
}

/** The run as its view begins with it: the id is said before anything of it happens. */
export function launched({ host, view }: HostWithView, runId: RunId, { name, hash, items }: Plan): void {
  view.launched({
    ...{ runId, name, planHash: hash, itemCount: items.length },
    results: host.results.location(runId),
  });
}
