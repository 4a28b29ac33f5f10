/**
 * The issues of a run that another process is about to carry out: a file that is there from the start of that process until
 * its run is known. Owns where it lies; without it the other process asks the code host once more.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RunId } from '../../core/ids.ts';
import type { PlanIssues } from '../../core/plan/plan-issue.ts';

/** Issues of a private repository are for nobody else. */
const OWNER_ONLY = { mode: 0o600 } as const;

function fileOf(dataDir: string, runId: RunId): string {
  return path.join(dataDir, 'detached', `${runId}.issues.json`);
}

/** Nothing is written for a run without issues. */
export function handIssues(dataDir: string, runId: RunId, issues: readonly PlanIssues[]): void {
  if (issues.length === 0) return;
  const file = fileOf(dataDir, runId);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(issues), OWNER_ONLY);
}

/** None when nothing was handed over. */
export function handedIssues(dataDir: string, runId: RunId): readonly PlanIssues[] {
  const file = fileOf(dataDir, runId);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as PlanIssues[]) : [];
}

export function dropHandedIssues(dataDir: string, runId: RunId): void {
  rmSync(fileOf(dataDir, runId), { force: true });
}
