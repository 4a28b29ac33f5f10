/**
 * Agents that are installed for sandboxes of the process runtime: below the data directory, a folder for each version.
 * Owns the layout and what is noted of each; must not install or remove.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

/** A folder, and a part of a path in a sandbox. */
export const AGENT_NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;
const NOTE = 'agent.json';

const noteSchema = z.object({
  name: z.string().regex(AGENT_NAME),
  /** Program in `bin/` of the folder. */
  command: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
  version: z.string(),
  /** `npm:PACKAGE`, or `folder:PATH` that it was copied from. */
  source: z.string(),
  /** As the registry or, of a folder, a hash over its files says. */
  integrity: z.string(),
  /** Beside the note. */
  directory: z.string().regex(/^[A-Za-z0-9._+-]{1,200}$/),
});

/** A coding agent that was added to this deployment. */
export interface InstalledAgent extends z.output<typeof noteSchema> {
  /** Absolute; its programs are in `bin/`. */
  readonly folder: string;
}

/** Where all agents lie. */
export function agentsFolder(dataDir: string): string {
  return path.join(dataDir, 'agents');
}

/** Where one agent lies. */
export function agentFolder(dataDir: string, name: string): string {
  return path.join(agentsFolder(dataDir), name);
}

/** What is known of an installed agent. */
export function noteFile(dataDir: string, name: string): string {
  return path.join(agentFolder(dataDir, name), NOTE);
}

/** By name; those whose note or folder cannot be read are not installed. */
export function installedAgents(dataDir: string): readonly InstalledAgent[] {
  const folder = agentsFolder(dataDir);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => AGENT_NAME.test(name));
  return names.sort().flatMap((name) => installedAgent(dataDir, name) ?? []);
}

/** Null when there is none of this name. */
export function installedAgent(dataDir: string, name: string): InstalledAgent | null {
  try {
    const note = noteSchema.parse(JSON.parse(readFileSync(noteFile(dataDir, name), 'utf8')));
    const folder = path.join(agentFolder(dataDir, name), note.directory);
    return existsSync(path.join(folder, 'bin', note.command)) ? { ...note, folder } : null;
  } catch {
    return null;
  }
}
