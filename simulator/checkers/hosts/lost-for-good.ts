/**
 * H9: what lived on a lost host is `MISSING` from then on, because of the host, with everybody in it told (D33).
 * Owns the check on the step that hears of the loss.
 */
import { HOST_LOST } from '../../../core/machine/projection.ts';
import { attachedIds, type SandboxState } from '../../../core/sandbox/state.ts';
import type { Moment } from '../checker.ts';

export function lostForGood({ step }: Moment): string | null {
  if (step.event.type !== 'hostLost') return null;
  const { status, detail, phase } = step.after as SandboxState;
  if (status !== 'MISSING' || phase !== 'missing') return `its host was lost, and it is ${phase}`;
  if (detail !== HOST_LOST) return `its host was lost, and it says: ${detail ?? 'nothing'}`;
  const told = new Set(
    step.commands.flatMap((command) =>
      command.type === 'send' && command.event.type === 'sandboxNoticed' ? [command.to.id] : [],
    ),
  );
  const untold = attachedIds(step.after as SandboxState).find((id) => !told.has(id));
  return untold === undefined ? null : `its host was lost, and conversation ${untold} is not told`;
}
