// Where the agent works, as its messages say: the rule of a script, and finding it in a request.
// It must not fill texts or answer.

import { textOf, type ChatMessage } from '../chat-request.ts';

/** Where the working directory is searched for. */
export interface WorkingDirRule {
  readonly from: 'system' | 'user';
  /** Has exactly one group: the directory. */
  readonly pattern: RegExp;
}

/** What the reference agent says, up to the full stop at the end of the line. */
export const defaultPattern = String.raw`Your working directory is (.+)\.$`;

/** Messages that count as the system's: newer models know it as the developer. */
const systemRoles = ['system', 'developer'];

/** The pattern as scripts mean it: `^` and `$` are those of a line. Null when it cannot be read or has not one group. */
export function readPattern(source: string): RegExp | null {
  try {
    const groups = new RegExp(`${source}|`, 'mu').exec('')?.length;
    return groups === 2 ? new RegExp(source, 'mu') : null;
  } catch {
    return null;
  }
}

/** The directory named by the first message that fits; null when none does. */
export function findWorkingDir(messages: readonly ChatMessage[], rule: WorkingDirRule): string | null {
  const roles = rule.from === 'system' ? systemRoles : ['user'];
  for (const message of messages) {
    const found = roles.includes(message.role) ? rule.pattern.exec(textOf(message))?.[1] : undefined;
    if (found !== undefined && found !== '') return found;
  }
  return null;
}
