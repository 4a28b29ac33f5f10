/**
 * A tool server on pipes: a program in the tools' place that speaks the protocol on its standard input and output.
 * Owns its start and its end; the library's own way to start one knows no such place.
 */
import type { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

import { MCP_END_MS } from '../limits.ts';
import { startTool } from '../toolbox.ts';
import type { ToolProcess } from '../toolbox.ts';

export interface ToolProgram {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export class ToolPipes implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #what: ToolProgram;
  readonly #read = new ReadBuffer();
  #tool: ToolProcess | null = null;
  #ended: Promise<void> = Promise.resolve();

  constructor(what: ToolProgram) {
    this.#what = what;
  }

  /** @throws Error it cannot be started */
  async start(): Promise<void> {
    const { program, args, env, cwd } = this.#what;
    const tool = await startTool(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] });
    this.#tool = tool;
    const { child } = tool;
    this.#ended = new Promise((resolve) => {
      child.once('error', () => resolve());
      child.once('close', () => resolve());
    });
    void this.#ended.then(() => {
      this.#tool = null;
      this.onclose?.();
    });
    for (const stream of [child.stdin, child.stdout])
      stream?.on('error', (error: Error) => this.onerror?.(error));
    child.stdout?.on('data', (chunk: Buffer) => this.#received(chunk));
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input: Writable | null | undefined = this.#tool?.child.stdin;
    if (!input?.writable) throw new Error('Cannot send message: the tool server has ended');
    const isTaken = input.write(serializeMessage(message));
    if (isTaken) return;
    const drained = new Promise<void>((resolve) => input.once('drain', () => resolve()));
    await Promise.race([drained, this.#ended]);
  }

  /** Asked first, by the end of its input; then it is ended, with all that it started in its group. */
  async close(): Promise<void> {
    const tool = this.#tool;
    tool?.child.stdin?.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (tool === null || (await this.#endedWithin(MCP_END_MS))) break;
      tool.signal(signal);
    }
    this.#read.clear();
  }

  async #endedWithin(ms: number): Promise<boolean> {
    const late = pause(ms, false, { ref: false });
    return await Promise.race([this.#ended.then(() => true), late]);
  }

  #received(chunk: Buffer): void {
    try {
      this.#read.append(chunk);
    } catch (error) {
      this.#failed(error);
      void this.close();
      return;
    }
    while (this.#tellNext());
  }

  /** False: nothing is whole yet. What cannot be read is told, and what follows it is read all the same. */
  #tellNext(): boolean {
    try {
      const message = this.#read.readMessage();
      if (message === null) return false;
      this.onmessage?.(message);
    } catch (error) {
      this.#failed(error);
    }
    return true;
  }

  #failed(error: unknown): void {
    this.onerror?.(error instanceof Error ? error : new Error(String(error)));
  }
}
