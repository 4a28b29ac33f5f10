/**
 * Terminals of an agent: commands that it has its client run, where tools run.
 * Owns their start, their output within a bound and their end; a released one is forgotten, and its output with it.
 */
import { isAbsolute } from 'node:path';

import { z } from 'zod';

import { ACP_TERMINAL_BYTES_DEFAULT, ACP_TERMINALS_MAX, TERMINAL_BUFFER_BYTES_MAX } from '../limits.ts';
import { startTool, type ToolProcess } from '../toolbox.ts';

export const createTerminalSchema = z.looseObject({
  command: z.string().min(1).max(65_536),
  args: z.array(z.string()).max(1_000).nullish(),
  env: z
    .array(z.object({ name: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), value: z.string() }))
    .max(200)
    .nullish(),
  cwd: z.string().refine(isAbsolute, 'Expected an absolute path').nullish(),
  outputByteLimit: z.number().int().min(0).nullish(),
});
export const terminalSchema = z.looseObject({ terminalId: z.string() });

interface ExitStatus {
  readonly exitCode: number | null;
  readonly signal: string | null;
}
interface Terminal {
  readonly tool: ToolProcess;
  readonly bytesMax: number;
  output: Buffer;
  isTruncated: boolean;
  exit: ExitStatus | null;
  readonly ended: Promise<ExitStatus>;
}

export class ClientTerminals {
  readonly #around: { readonly workingDir: string; readonly uuid: () => string };
  readonly #terminals = new Map<string, Terminal>();
  /** What released ones showed last: a call may name them afterwards. */
  readonly #lastTexts = new Map<string, string>();

  constructor(around: { readonly workingDir: string; readonly uuid: () => string }) {
    this.#around = around;
  }

  /** @throws Error it cannot be started, or there are too many */
  async create(
    { command, args, env, cwd, outputByteLimit }: z.infer<typeof createTerminalSchema>,
    environment: Readonly<Record<string, string>>,
  ): Promise<{ readonly terminalId: string }> {
    if (this.#terminals.size >= ACP_TERMINALS_MAX)
      throw new Error(`Cannot create terminal: ${ACP_TERMINALS_MAX} exist already`);
    const variables = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
    // Without arguments agents write a line for a shell.
    const words = args && args.length > 0 ? [command, ...args] : ['bash', '-c', command];
    const tool = await startTool(words[0] ?? '', words.slice(1), {
      cwd: cwd ?? this.#around.workingDir,
      env: { ...environment, ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const terminalId = this.#around.uuid();
    const wanted = outputByteLimit ?? ACP_TERMINAL_BYTES_DEFAULT;
    this.#terminals.set(terminalId, watched(tool, Math.min(wanted, TERMINAL_BUFFER_BYTES_MAX)));
    return { terminalId };
  }

  output(id: string): {
    readonly output: string;
    readonly truncated: boolean;
    readonly exitStatus?: ExitStatus;
  } {
    const { output, isTruncated, exit } = this.#known(id);
    const told = { output: output.toString('utf8'), truncated: isTruncated };
    return exit === null ? told : { ...told, exitStatus: exit };
  }

  async waitForExit(id: string): Promise<ExitStatus> {
    return await this.#known(id).ended;
  }

  kill(id: string): Record<string, never> {
    this.#known(id).tool.signal('SIGKILL');
    return {};
  }

  release(id: string): Record<string, never> {
    const terminal = this.#terminals.get(id);
    if (terminal === undefined) return {};
    if (terminal.exit === null) terminal.tool.signal('SIGKILL');
    this.#lastTexts.set(id, terminal.output.toString('utf8'));
    if (this.#lastTexts.size > ACP_TERMINALS_MAX) {
      const [oldest] = this.#lastTexts.keys();
      this.#lastTexts.delete(oldest ?? '');
    }
    this.#terminals.delete(id);
    return {};
  }

  /** What it showed, for the result of a call. */
  text(id: string): string {
    return this.#terminals.get(id)?.output.toString('utf8') ?? this.#lastTexts.get(id) ?? '';
  }

  close(): void {
    for (const { tool, exit } of this.#terminals.values()) if (exit === null) tool.signal('SIGKILL');
    this.#terminals.clear();
    this.#lastTexts.clear();
  }

  #known(id: string): Terminal {
    const terminal = this.#terminals.get(id);
    if (terminal === undefined) throw new Error(`Cannot use terminal: there is none "${id}"`);
    return terminal;
  }
}

function watched(tool: ToolProcess, bytesMax: number): Terminal {
  const { child } = tool;
  let tell: (exit: ExitStatus) => void = () => undefined;
  const ended = new Promise<ExitStatus>((resolve) => (tell = resolve));
  const terminal: Terminal = {
    tool,
    bytesMax,
    output: Buffer.alloc(0),
    isTruncated: false,
    exit: null,
    ended,
  };
  const end = (exit: ExitStatus): void => {
    terminal.exit ??= exit;
    tell(terminal.exit);
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('error', () => undefined);
    stream?.on('data', (chunk: Buffer) => keep(terminal, chunk));
  }
  child.once('error', (error) => {
    keep(terminal, Buffer.from(`${error.message}\n`));
    end({ exitCode: 127, signal: null });
  });
  child.once('close', (exitCode, signal) => end({ exitCode, signal }));
  return terminal;
}

/** The oldest output goes first, and never half a character. */
function keep(terminal: Terminal, chunk: Buffer): void {
  const all = Buffer.concat([terminal.output, chunk]);
  const over = all.length - terminal.bytesMax;
  if (over > 0) terminal.isTruncated = true;
  let start = Math.max(0, over);
  while (start > 0 && start < all.length && ((all[start] ?? 0) & 0xc0) === 0x80) start += 1;
  terminal.output = Buffer.from(all.subarray(start));
}
