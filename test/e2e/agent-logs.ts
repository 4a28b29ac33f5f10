/**
 * The agents' own event logs, kept past the end of their sandboxes.
 * Owns a second name for each log file as soon as it is there: what the agent appends later is in it as well.
 */
import { linkSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { BatchCopy } from './batch-copy.ts';
import { namesIn } from './folder.ts';

/** A log lives for seconds. */
const POLL_EVERY_MS = 50;

export interface AgentLog {
  readonly sandboxId: string;
  readonly conversationId: string;
  readonly events: readonly Readonly<Record<string, unknown>>[];
}

/** Watches the sandboxes of a batch until it is stopped; then every log there was, whole. */
export function keepAgentLogs(copy: BatchCopy): { readonly folder: string; stop(): readonly AgentLog[] } {
  const sandboxes = path.join(copy.dataDir, 'sandboxes');
  const folder = path.join(copy.root, 'agent-logs');
  mkdirSync(folder);
  const kept = new Set<string>();
  const poll = (): void => {
    for (const sandbox of namesIn(sandboxes)) {
      const conversations = path.join(sandboxes, sandbox, 'agent/conversations');
      for (const id of namesIn(conversations)) {
        const name = `${sandbox}.${id}.jsonl`;
        if (!kept.has(name) && link(path.join(conversations, id, 'events.jsonl'), path.join(folder, name)))
          kept.add(name);
      }
    }
  };
  const timer = setInterval(poll, POLL_EVERY_MS);
  return {
    folder,
    stop() {
      clearInterval(timer);
      return [...kept].map((name) => ({
        sandboxId: name.split('.')[0] ?? '',
        conversationId: name.split('.')[1] ?? '',
        events: linesOf(path.join(folder, name)),
      }));
    },
  };
}

function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch {
    return false;
  }
}

function linesOf(file: string): AgentLog['events'] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as AgentLog['events'][number]);
}
