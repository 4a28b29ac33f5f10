/**
 * One tool that other agents may call: its name, its shapes, what it does to the world, and its work.
 * Owns the form; must not know a protocol.
 */
import type { z } from 'zod';
import type { Client } from '../../api/client/client.ts';
import type { Shell } from '../../host/shell.ts';

/** What every tool works with. */
export interface McpDesk {
  readonly client: Client;
  readonly shell: Shell;
  /** Value of `--config`. */
  readonly config: string | undefined;
  /** Folder below which job files lie, and beyond which no job reads anything. */
  readonly root: string;
  /** Whether the deployment is the one of `config`, so that what a run needs can be checked from here. */
  readonly isHere: boolean;
}

export interface ToolCall<Input> {
  readonly input: Input;
  readonly desk: McpDesk;
  /** Aborts when the caller does not wait for the answer any more. */
  readonly signal: AbortSignal;
  /** Reports to the caller that the work goes on, and how far it is. */
  progress(message: string): void;
  /** Values that must stand in no answer, whatever it is. */
  hide(values: Iterable<string>): void;
}

/** By these, clients decide what they ask a person about. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  /** Whether it reaches beyond the deployment: an agent may. */
  readonly openWorldHint: boolean;
}

const CHANGES: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
export const READS: ToolAnnotations = { ...CHANGES, readOnlyHint: true };
/** Starts work in a sandbox: it adds, and spends. */
export const WORKS: ToolAnnotations = { ...CHANGES, idempotentHint: false, openWorldHint: true };
export const ENDS: ToolAnnotations = { ...CHANGES, destructiveHint: true };

export interface ToolDefinition<Input extends z.ZodType, Output extends z.ZodType> {
  readonly name: string;
  readonly title: string;
  /** For a model: what it is for, and what to call next. */
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly input: Input;
  readonly output: Output;
  run(call: ToolCall<z.output<Input>>): Promise<z.input<Output>>;
}

/** With its types forgotten, as the server of all tools holds it. */
export type Tool = ToolDefinition<z.ZodType, z.ZodType>;

export function tool<Input extends z.ZodType, Output extends z.ZodType>(
  definition: ToolDefinition<Input, Output>,
): Tool {
  return definition as unknown as Tool;
}
