/**
 * Whether the workspace of a sandbox that a run has used can still be read.
 * Owns the one rule, for what checks and collects in the product and in its simulation alike.
 */
import type { SandboxRow } from '../../machine/projection.ts';
import type { SandboxStatus } from '../../status.ts';

/** How a sandbox was found that could not be read any more. */
export interface LostSandbox {
  readonly status: SandboxStatus;
  readonly detail: string | null;
}

/** Either it is up or can be brought back, or it is lost. */
export type FoundSandbox =
  { readonly row: SandboxRow; readonly lost: null } | { readonly row: null; readonly lost: LostSandbox };

/** `row`: as it is stored now; null for none, which means that it is gone. `readable`: whether its run believes so. */
export function foundSandbox(row: SandboxRow | null, readable: boolean): FoundSandbox {
  if (row === null) return { row, lost: { status: 'MISSING', detail: null } };
  const { status, detail } = row;
  const isLost = !readable || status === 'ERROR' || status === 'MISSING';
  return isLost ? { row: null, lost: { status, detail } } : { row, lost: null };
}
