/**
 * How objects of ours are called and marked in a namespace.
 * Owns names, labels and annotations; a name is the idempotency key of a start, so it names installation, sandbox and
 * generation. Labels say whose an object is and never change; what changes stands in annotations of the volume.
 */
import type { SandboxId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';

export const LABELS = {
  installation: 'dev.parley/installation',
  sandbox: 'dev.parley/sandbox',
  generation: 'dev.parley/generation',
  role: 'dev.parley/role',
} as const;

export const ANNOTATIONS = {
  generation: 'dev.parley/generation',
  desired: 'dev.parley/desired',
  endedFor: 'dev.parley/ended-for',
} as const;

/** Holds a volume that an operator deletes until Parley, which archives first, lets it go. */
export const ARCHIVE_FINALIZER = 'dev.parley/archive-before-delete';

const SANDBOX_ID_PATTERN = /^[0-9a-f]{32}$/;
/** Names have 63 characters, of which the id takes 32 and the generation up to 10. */
const INSTALLATION_PATTERN = /^[a-z]([a-z0-9-]{0,14}[a-z0-9])?$/;

/** `agent`: runs the Agent Server. `reader`: reads the workspace for an export. */
type PodRole = 'agent' | 'reader';

export interface Marks {
  readonly sandboxId: SandboxId;
  readonly generation: number;
  readonly role: PodRole;
}

/** What of a label set is read back. */
type LabelSet = Readonly<Record<string, string>> | null | undefined;

/** @throws ParleyError runtime_failed: it cannot be part of a name */
export function checkInstallation(installation: string): void {
  if (INSTALLATION_PATTERN.test(installation)) return;
  const message = `Cannot name objects after "${installation}": it is not up to 16 lower-case letters, digits and dashes`;
  throw new ParleyError('runtime_failed', message);
}

/** @throws ParleyError runtime_failed: the id is no id */
export function volumeName(installation: string, id: SandboxId): string {
  if (SANDBOX_ID_PATTERN.test(id)) return `${installation}-${id}`;
  throw new ParleyError('runtime_failed', `Cannot locate sandbox "${id}": not 32 hex digits`);
}

export function podName(installation: string, id: SandboxId, generation: number): string {
  return `${volumeName(installation, id)}-${generation}`;
}

export function policyName(installation: string): string {
  return `${installation}-sandboxes`;
}

export function labelsOf(
  installation: string,
  { sandboxId, generation, role }: Marks,
): Record<string, string> {
  return {
    ...volumeLabels(installation, sandboxId),
    [LABELS.generation]: String(generation),
    [LABELS.role]: role,
  };
}

export function volumeLabels(installation: string, id: SandboxId): Record<string, string> {
  return { [LABELS.installation]: installation, [LABELS.sandbox]: id };
}

/** Everything of this installation, or of one sandbox of it. */
export function selectorOf(installation: string, id: SandboxId | null = null): string {
  const own = `${LABELS.installation}=${installation}`;
  return id === null ? own : `${own},${LABELS.sandbox}=${id}`;
}

/** Whose volume it is; null when it is not of this installation. */
export function ownerOf(installation: string, labels: LabelSet): SandboxId | null {
  const id = labels?.[LABELS.sandbox];
  if (labels?.[LABELS.installation] !== installation || id === undefined) return null;
  return SANDBOX_ID_PATTERN.test(id) ? (id as SandboxId) : null;
}

/** Null when they are not those of a pod of this installation. */
export function marksOf(installation: string, labels: LabelSet): Marks | null {
  const sandboxId = ownerOf(installation, labels);
  const generation = Number(labels?.[LABELS.generation]);
  const role = labels?.[LABELS.role];
  if (sandboxId === null || !Number.isInteger(generation)) return null;
  return role === 'agent' || role === 'reader' ? { sandboxId, generation, role } : null;
}
