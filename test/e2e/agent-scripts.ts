/**
 * Two tasks of the first batch for agents that are no part of Parley: what a made-up model says, in the words of each
 * agent's own tools.
 * Owns the scripts of the gateway; the texts that are written are those of the example.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

/** As presets are named. */
export type ScriptedAgent = 'reference' | 'opencode' | 'claude-code';
export type ScriptedTask = 'esm-entry' | 'choice-suggestions';

export const SCRIPTED_TASKS: readonly ScriptedTask[] = ['esm-entry', 'choice-suggestions'];

/** A text, or a file of the example that has it. */
type Text = string | { readonly file: string };
type Step =
  | { readonly kind: 'run'; readonly command: string }
  | { readonly kind: 'read'; readonly path: string }
  | { readonly kind: 'write'; readonly path: string; readonly text: Text }
  | { readonly kind: 'edit'; readonly path: string; readonly from: Text; readonly to: Text };

interface Call {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

interface Dialect {
  /** A tool that this agent offers, and none of the others. */
  readonly ownTool: string;
  /** Tokens of a prompt are multiplied by it, so that no two agents cost the same. */
  readonly share: number;
  readonly call: (step: Step) => Call;
}

const DIALECTS: Readonly<Record<ScriptedAgent, Dialect>> = {
  reference: { ownTool: 'file_editor', share: 100, call: referenceCall },
  opencode: { ownTool: 'bash', share: 131, call: openCodeCall },
  'claude-code': { ownTool: 'Bash', share: 177, call: claudeCall },
};

function referenceCall(step: Step): Call {
  const editor = (command: string, file: string, more: object = {}): Call => ({
    tool: 'file_editor',
    arguments: { command, path: `{{working_dir}}/${file}`, ...more },
  });
  switch (step.kind) {
    case 'run':
      return { tool: 'terminal', arguments: { command: step.command } };
    case 'read':
      return editor('view', step.path);
    case 'write':
      return editor('create', step.path, { file_text: step.text });
    case 'edit':
      return editor('str_replace', step.path, { old_str: step.from, new_str: step.to });
  }
}

function openCodeCall(step: Step): Call {
  switch (step.kind) {
    case 'run':
      return { tool: 'bash', arguments: { command: step.command, description: 'Runs a command' } };
    case 'read':
      return { tool: 'read', arguments: { filePath: step.path } };
    case 'write':
      return { tool: 'write', arguments: { filePath: step.path, content: step.text } };
    case 'edit':
      return { tool: 'edit', arguments: { filePath: step.path, oldString: step.from, newString: step.to } };
  }
}

function claudeCall(step: Step): Call {
  switch (step.kind) {
    case 'run':
      return { tool: 'Bash', arguments: { command: step.command, description: 'Runs a command' } };
    case 'read':
      return { tool: 'Read', arguments: { file_path: step.path } };
    case 'write':
      return { tool: 'Write', arguments: { file_path: step.path, content: step.text } };
    case 'edit':
      return {
        tool: 'Edit',
        arguments: { file_path: step.path, old_string: step.from, new_string: step.to },
      };
  }
}

const EXAMPLE = path.join(import.meta.dirname, '../../examples/first-batch');

interface OwnScript {
  readonly name: string;
  readonly turns: readonly { readonly tools?: readonly { readonly arguments?: unknown }[] }[];
}

/** What the example's own agent replaces, so that nothing of it is written twice. */
function replaced(name: string, key: 'old_str' | 'new_str'): readonly string[] {
  const { scripts } = parse(readFileSync(path.join(EXAMPLE, 'gateway.yaml'), 'utf8')) as {
    readonly scripts: readonly OwnScript[];
  };
  const calls = scripts.find((script) => script.name === name)?.turns.flatMap(({ tools = [] }) => tools);
  return (calls ?? []).flatMap(({ arguments: given }) => {
    const value = (given as Readonly<Record<string, unknown>>)[key];
    return typeof value === 'string' ? [value] : [];
  });
}

const CHOICES_TEST = 'node --test test/choice-suggestions.test.mjs';
const CHOICES_FROM = replaced('choices', 'old_str');
const CHOICES_TO = replaced('choices', 'new_str');

const edit = (file: string, at: number): Step => ({
  ...{ kind: 'edit', path: file },
  ...{ from: CHOICES_FROM[at] ?? '', to: CHOICES_TO[at] ?? '' },
});

const TASKS: Readonly<
  Record<
    ScriptedTask,
    { readonly says: string; readonly prompt: string; readonly steps: readonly Step[]; readonly end: string }
  >
> = {
  'esm-entry': {
    says: 'Add an ES module entry to this package',
    prompt: 'Add an ES module entry to this package.',
    steps: [
      // Nothing that only reads: an agent that asks before it acts asks about this first.
      { kind: 'run', command: 'node --test test/esm.test.mjs' },
      { kind: 'write', path: 'index.mjs', text: { file: 'written/ms/index.mjs.txt' } },
      { kind: 'read', path: 'package.json' },
      {
        ...{ kind: 'edit', path: 'package.json' },
        from: '  "main": "./index",\n  "files": [\n    "index.js"\n  ],\n',
        to: { file: 'written/ms/package-entries.txt' },
      },
      { kind: 'run', command: 'node --test test/esm.test.mjs' },
    ],
    end: 'The package has an entry for modules now, and its test passes.',
  },
  'choice-suggestions': {
    says: 'test/choice-suggestions.test.mjs fails',
    prompt: 'The test in test/choice-suggestions.test.mjs fails, please make it pass.',
    steps: [
      { kind: 'run', command: CHOICES_TEST },
      { kind: 'read', path: 'lib/option.js' },
      { kind: 'read', path: 'lib/argument.js' },
      { kind: 'write', path: 'lib/choices.js', text: { file: 'written/commander/choices.js.txt' } },
      edit('lib/option.js', 0),
      edit('lib/option.js', 1),
      edit('lib/argument.js', 2),
      edit('lib/argument.js', 3),
      { kind: 'run', command: CHOICES_TEST },
    ],
    end: 'A wrong choice gets a hint now, and the test passes.',
  },
};

/** What a job asks for. */
export function promptOf(task: ScriptedTask): string {
  return TASKS[task].prompt;
}

/** The gateway of the example for these agents. `idle` takes only the first step of its task: the check fails. */
export function agentGateway(
  agents: readonly ScriptedAgent[],
  idle: { readonly agent: ScriptedAgent; readonly task: ScriptedTask } | null = null,
): string {
  const scripts = agents.flatMap((agent) =>
    SCRIPTED_TASKS.map((task) =>
      scriptOf({ agent, task, isIdle: idle?.agent === agent && idle.task === task }),
    ),
  );
  // OpenCode has a title made of each session, without its tools.
  const title = {
    name: 'title',
    when: { contains: 'Generate a title' },
    turns: [{ say: 'A title', usage: { prompt: 301, completion: 7 } }],
  };
  return JSON.stringify({
    kind: 'gateway-script',
    version: 1,
    keys: [{ key: 'os.environ/PARLEY_GATEWAY_KEY', name: 'agents', models: ['acme/coder-1'] }],
    models: { 'acme/coder-1': { input: '1.2375', output: '4.9625' } },
    scripts: [title, ...scripts],
  });
}

function scriptOf({
  agent,
  task,
  isIdle,
}: {
  readonly agent: ScriptedAgent;
  readonly task: ScriptedTask;
  readonly isIdle: boolean;
}): object {
  const { ownTool, share, call } = DIALECTS[agent];
  const { says, steps, end } = TASKS[task];
  const usage = (at: number): object => ({ prompt: (11 + 7 * at) * share + at, completion: 53 + 31 * at });
  const chosen = isIdle ? steps.slice(0, 1) : steps;
  return {
    name: `${task}-${agent}`.slice(0, SCRIPT_NAME_CHARS),
    when: { contains: says, tool: ownTool },
    turns: [
      ...chosen.map((step, at) => ({ ...call(step), usage: usage(at) })),
      { say: end, usage: usage(chosen.length) },
    ],
  };
}

const SCRIPT_NAME_CHARS = 28;
