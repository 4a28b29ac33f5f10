/**
 * A model's port whose answers pass through a function that may put a recorded one in their place.
 * Owns the passing; the function decides what is recorded.
 */
import type { ActivityCommand, MachineEvent } from '../../core/machine/command.ts';
import type { ModelPort } from '../model-port.ts';

/** The answer to give instead; the same one when nothing is recorded about it. */
export type ReplacedAnswers = (command: ActivityCommand, answer: MachineEvent) => MachineEvent;

/** Without a function it is the port itself. */
export function replacing(port: ModelPort, replaces: ReplacedAnswers | undefined): ModelPort {
  if (replaces === undefined) return port;
  return {
    now: () => port.now(),
    later: (commandId, at, run) => port.later(commandId, at, run),
    answer: (command, event) => port.answer(command, event === null ? null : replaces(command, event)),
    deliver: (to, event) => port.deliver(to, event),
  };
}
