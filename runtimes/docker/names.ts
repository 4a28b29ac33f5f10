/**
 * How containers of ours are called and marked.
 * Owns names and labels; a name is the idempotency key of a start, so it names installation, sandbox and generation.
 * Deadlines and states stand nowhere here: labels cannot be changed while a container lives.
 */
import type { SandboxId } from '../../core/ids.ts';
import { digest } from '../on-host/sandbox-place.ts';

/** Enough for installations of a host to differ. */
const MARK_DIGITS = 8;
const LABELS = {
  installation: 'dev.parley.installation',
  sandbox: 'dev.parley.sandbox',
  generation: 'dev.parley.generation',
} as const;

export interface Marks {
  readonly sandboxId: string;
  readonly generation: number;
}

/** Two installations never touch each other's containers: each has a data directory of its own. */
function installationOf(dataDir: string): string {
  return digest(dataDir, MARK_DIGITS);
}

export function containerName(dataDir: string, id: SandboxId, generation: number): string {
  return `parley-${installationOf(dataDir)}-${id}-${generation}`;
}

export function labelsOf(dataDir: string, { sandboxId, generation }: Marks): Record<string, string> {
  return {
    [LABELS.installation]: installationOf(dataDir),
    [LABELS.sandbox]: sandboxId,
    [LABELS.generation]: String(generation),
  };
}

/** Filter of the daemon's list: everything of this installation, or of one sandbox of it. */
export function labelFilter(dataDir: string, id: SandboxId | null = null): readonly string[] {
  const own = `${LABELS.installation}=${installationOf(dataDir)}`;
  return id === null ? [own] : [own, `${LABELS.sandbox}=${id}`];
}

/** Null when they are not those of this installation. */
export function marksOf(
  dataDir: string,
  labels: Readonly<Record<string, string>> | null | undefined,
): Marks | null {
  if (labels?.[LABELS.installation] !== installationOf(dataDir)) return null;
  const generation = Number(labels[LABELS.generation]);
  const sandboxId = labels[LABELS.sandbox];
  return sandboxId === undefined || !Number.isInteger(generation) ? null : { sandboxId, generation };
}
