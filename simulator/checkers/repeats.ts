/**
 * I18: a request that comes again changes nothing, whatever happened in between.
 * Owns the memory of what was taken; as bounded as that of the machines.
 */
import { addressKey } from '../../core/ids.ts';
import { REMEMBERED_REQUESTS_MAX } from '../../core/limits.ts';
import type { MachineEvent } from '../../core/machine/command.ts';
import type { Moment, SafetyCheck } from './checker.ts';

export function repeatsChangeNothing(): SafetyCheck {
  const taken = new Map<string, string[]>();
  return ({ step }: Moment) => {
    const id = requestIdOf(step.event);
    if (id === null) return null;
    const key = addressKey(step.address);
    const ids = taken.get(key) ?? [];
    taken.set(key, ids);
    if (ids.includes(id)) return `request "${id}" came again, and changed it again`;
    ids.push(id);
    if (ids.length >= REMEMBERED_REQUESTS_MAX) ids.shift();
    return null;
  };
}

/** Null for what is no request, and for an attachment, which is answered again since its answer can be lost. */
function requestIdOf(event: MachineEvent): string | null {
  switch (event.type) {
    case 'messageReceived':
      return event.messageId;
    case 'attachRequested':
    case 'attachAnswered':
    case 'resumeAnswered':
      return null;
    default:
      return 'requestId' in event ? event.requestId : null;
  }
}
