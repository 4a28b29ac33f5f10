/**
 * A copy of the first batch with its gateway, and clients of the protocol's own library that speak to `parley mcp` beside it.
 * Owns what is started and its end; must not assert.
 */
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { onTestFinished } from 'vitest';
import { copyBatch, type BatchCopy } from '../../e2e/batch-copy.ts';
import { openGateway, type BatchGateway } from '../../e2e/batch-gateway.ts';

export interface McpBatch {
  readonly copy: BatchCopy;
  readonly gateway: BatchGateway;
  readonly env: Readonly<Record<string, string>>;
}

export async function mcpBatch(): Promise<McpBatch> {
  const copy = copyBatch('none');
  onTestFinished(() => copy.close());
  const gateway = await openGateway(copy);
  onTestFinished(() => gateway.stop());
  return { copy, gateway, env: { ...copy.env, ...gateway.env } };
}

/** `parley mcp` as a child on pipes. */
export async function pipeClient({ copy, env }: McpBatch, args: readonly string[] = []): Promise<Client> {
  return await connected(
    new StdioClientTransport({
      command: process.execPath,
      args: [path.join(copy.root, 'bin/parley.js'), 'mcp', ...args],
      cwd: copy.example,
      env,
      stderr: 'ignore',
    }),
  );
}

export async function connected(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'parley-test', version: '1.0.0' });
  onTestFinished(() => client.close());
  await client.connect(transport, { timeout: CALL_MS_MAX });
  return client;
}

/** The first call opens an engine. */
const CALL_MS_MAX = 120_000;

export interface Answer {
  readonly isError: boolean;
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Calling {
  readonly onProgress?: (message: string) => void;
  readonly signal?: AbortSignal;
}

/** One call; the library checks the data against the schema that the tool declares. */
export async function call(
  client: Client,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
  { onProgress, signal }: Calling = {},
): Promise<Answer> {
  const answer = await client.callTool({ name, arguments: args }, undefined, {
    timeout: CALL_MS_MAX,
    resetTimeoutOnProgress: true,
    ...(signal === undefined ? {} : { signal }),
    ...(onProgress === undefined ? {} : { onprogress: ({ message }) => onProgress(message ?? '') }),
  });
  const content = answer.content as readonly { readonly text?: string }[];
  return {
    isError: answer.isError === true,
    text: content.map(({ text = '' }) => text).join('\n'),
    data: (answer.structuredContent ?? {}) as Record<string, unknown>,
  };
}
