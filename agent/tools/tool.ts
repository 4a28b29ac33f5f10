/**
 * What a tool is: a name, a schema the model sees, and a run. Owns the reading of arguments; no tool in particular.
 */
import { z } from 'zod';

import { textContent, type Action, type Observation, type SecurityRisk } from '../conversation/event.ts';
import { OBSERVATION_CHARS_MAX } from '../limits.ts';
import { boundText } from '../text-bound.ts';

/** What every tool of a conversation may use. */
export interface ToolSurroundings {
  /** Absolute. */
  readonly workingDir: string;
  /** The conversation's secrets, as they are at the time of the call. */
  readonly secrets: () => Readonly<Record<string, string>>;
  /** Applied before output is cut: half a secret at a cut would not be recognised afterwards. */
  readonly mask: (text: string) => string;
  readonly nowMs: () => number;
  /** Fresh and unguessable. */
  readonly uuid: () => string;
  /** A text that watching clients see growing. */
  readonly growing: (say: (piece: string) => void) => GrowingOutput;
}

/** Output as it comes; see `GrowingText`. */
export interface GrowingOutput {
  push(text: string): void;
  skip(): void;
}

/** Receives what a tool prints before it has a result. */
export type OutputListener = (piece: string) => void;

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly actionKind: string;
  /** JSON schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Finish and think change nothing, so no policy has them confirmed. */
  readonly needsNoConfirmation: boolean;
  /** @throws ToolArgumentError the arguments do not fit the schema */
  parse(input: unknown): Action;
  /** Runs a parsed action. Trouble the model can mend is an observation with `is_error`. */
  run(action: Action, signal: AbortSignal, onOutput?: OutputListener): Promise<Observation>;
  /** Ends what the tool left running. */
  close(): void;
}

/** Arguments that do not fit; the message goes back to the model. */
export class ToolArgumentError extends Error {}

export interface ToolDefinition<S extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** `Terminal` for TerminalAction and TerminalObservation. */
  readonly kindStem: string;
  readonly schema: S;
  readonly needsNoConfirmation?: boolean;
  readonly run: (
    args: z.output<S>,
    signal: AbortSignal,
    onOutput: OutputListener | null,
  ) => Promise<ToolResult>;
  readonly close?: () => void;
}

export interface ToolResult {
  readonly text: string;
  readonly isError: boolean;
  /** Further fields of the observation. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

export function defineTool<S extends z.ZodObject>(definition: ToolDefinition<S>): Tool {
  const { schema, kindStem } = definition;
  const parse = (input: unknown): z.output<S> => {
    const parsed = schema.safeParse(input);
    if (parsed.success) return parsed.data;
    const problems = parsed.error.issues.map(
      (issue) => `${issue.path.join('.') || 'arguments'}: ${issue.message}`,
    );
    throw new ToolArgumentError(`Cannot call tool "${definition.name}": ${problems.join('; ')}`);
  };
  return {
    name: definition.name,
    title: definition.title,
    description: definition.description,
    actionKind: `${kindStem}Action`,
    parameters: parametersOf(schema),
    needsNoConfirmation: definition.needsNoConfirmation ?? false,
    parse: (input) => ({ ...parse(input), kind: `${kindStem}Action` }),
    run: async (action, signal, onOutput) => {
      const { kind: _kind, ...input } = action;
      const result = await definition.run(parse(input), signal, onOutput ?? null);
      return {
        content: [textContent(boundText(result.text, OBSERVATION_CHARS_MAX))],
        is_error: result.isError,
        ...result.fields,
        kind: `${kindStem}Observation`,
      };
    },
    close: definition.close ?? (() => undefined),
  };
}

/** Fields every tool takes beside its own; they describe the call and are not passed to the run. */
export const COMMON_PARAMETERS = {
  security_risk: {
    type: 'string',
    enum: ['LOW', 'MEDIUM', 'HIGH'],
    description:
      'Risk of this action: LOW reads or changes only the workspace, MEDIUM changes the sandbox or installs things, HIGH sends data out or destroys what cannot be restored.',
  },
  summary: { type: 'string', description: 'What this action does, in at most ten words.' },
} as const;

function parametersOf(schema: z.ZodObject): Record<string, unknown> {
  const {
    $schema: _dialect,
    additionalProperties: _closed,
    ...own
  } = z.toJSONSchema(schema, { io: 'input' });
  return { ...own, properties: { ...own.properties, ...COMMON_PARAMETERS } };
}

interface SplitArguments {
  readonly own: Readonly<Record<string, unknown>>;
  readonly risk: SecurityRisk;
  readonly summary: string | null;
}

/** Takes the common fields out of raw arguments. */
export function splitArguments(raw: Readonly<Record<string, unknown>>): SplitArguments {
  const { security_risk: risk, summary, ...own } = raw;
  const known = (['LOW', 'MEDIUM', 'HIGH'] as const).find((each) => each === risk);
  return {
    own,
    risk: known ?? 'UNKNOWN',
    summary: typeof summary === 'string' ? summary.slice(0, 500) : null,
  };
}
