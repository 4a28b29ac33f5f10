/**
 * Closed vocabularies as the wire has them, under the names that they have in the OpenAPI document.
 * Owns the names; the words are core's.
 */
import { z } from 'zod';
import {
  EXECUTION_STATUSES,
  FAILURE_CLASSES,
  GROUPING_STRATEGIES,
  PAUSE_REASONS,
  SANDBOX_STATUSES,
  START_TASK_STATUSES,
  type Transition,
} from '../../core/status.ts';
import { KEY_SCOPES } from '../../ports/api-keys.ts';

const TRANSITIONS = ['pausing', 'resuming', 'archiving', 'deleting'] as const satisfies readonly Transition[];

export const sandboxStatus = z.enum(SANDBOX_STATUSES).meta({ id: 'SandboxStatus' });
export const pauseReason = z.enum(PAUSE_REASONS).meta({ id: 'PauseReason' });
export const transition = z.enum(TRANSITIONS).meta({ id: 'SandboxTransition' });
export const executionStatus = z.enum(EXECUTION_STATUSES).meta({ id: 'ExecutionStatus' });
export const startTaskStatus = z.enum(START_TASK_STATUSES).meta({ id: 'StartTaskStatus' });
export const groupingStrategy = z.enum(GROUPING_STRATEGIES).meta({ id: 'GroupingStrategy' });
export const failureClass = z.enum(FAILURE_CLASSES).meta({ id: 'FailureClass' });
export const keyScope = z.enum(KEY_SCOPES).meta({ id: 'KeyScope' });
export const confirmationPolicy = z.enum(['never', 'risky', 'always']).meta({ id: 'ConfirmationPolicy' });
export const securityAnalyzer = z.enum(['llm', 'none']).meta({ id: 'SecurityAnalyzer' });

/** Words that mean the same wherever they stand. */
export const VOCABULARIES: readonly z.ZodType[] = [
  sandboxStatus,
  pauseReason,
  transition,
  executionStatus,
  startTaskStatus,
  groupingStrategy,
  failureClass,
  keyScope,
  confirmationPolicy,
  securityAnalyzer,
];

/** The document of a deployment lists the words of its dialect here (D2). */
export const SPOKEN_STATUS = 'ConversationExecutionStatus';
export const spokenExecutionStatus = z.string().meta({ id: SPOKEN_STATUS, enum: [...EXECUTION_STATUSES] });
