/**
 * Completion in an editor, through the language server that editors use: every key of the schema is offered
 * where it may stand.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CompletionList } from 'vscode-languageserver-protocol';

import { jobSchema } from '../../dsl/schema/json-schema.ts';
import type { JsonSchema } from '../../dsl/schema/shorthand.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const SERVER = path.join(ROOT, 'node_modules/yaml-language-server/bin/yaml-language-server');
const SCHEMA = path.join(ROOT, 'schema/job.v1.json');

/** Nothing is fetched from anywhere: the file names its schema itself. */
const SETTINGS = { completion: true, validate: false, schemaStore: { enable: false } };

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly items?: readonly { readonly section?: string }[] };
  readonly result?: unknown;
}

/** Speaks the protocol over the standard streams: a header with the length, then JSON. */
class Client {
  private readonly process: ChildProcessWithoutNullStreams;
  private readonly waiting = new Map<number, (result: unknown) => void>();
  private buffer = Buffer.alloc(0);
  private lastId = 0;

  constructor() {
    this.process = spawn(process.execPath, [SERVER, '--stdio']);
    this.process.stdout.on('data', (chunk: Buffer) => {
      this.buffer = Buffer.concat([this.buffer, chunk]);
      this.readAll();
    });
  }

  request(method: string, params: unknown): Promise<unknown> {
    this.lastId += 1;
    const id = this.lastId;
    this.send({ id, method, params });
    return new Promise((resolve) => this.waiting.set(id, resolve));
  }

  send(message: object): void {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.process.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  close(): void {
    this.process.kill();
  }

  private readAll(): void {
    for (;;) {
      const end = this.buffer.indexOf('\r\n\r\n');
      if (end === -1) return;
      const length = Number(/Content-Length: (\d+)/.exec(this.buffer.subarray(0, end).toString())?.[1]);
      if (this.buffer.length < end + 4 + length) return;
      const message = JSON.parse(this.buffer.subarray(end + 4, end + 4 + length).toString()) as Message;
      this.buffer = this.buffer.subarray(end + 4 + length);
      this.take(message);
    }
  }

  /** The server asks for its settings and registers what it can do; each wants an answer. */
  private take({ id, method, params, result }: Message): void {
    if (id === undefined) return;
    if (method === undefined) this.waiting.get(id)?.(result);
    else
      this.send({
        id,
        result: method === 'workspace/configuration' ? (params?.items ?? []).map(settingsOf) : null,
      });
  }
}

function settingsOf({ section }: { readonly section?: string }): object | null {
  return section === 'yaml' ? SETTINGS : null;
}

interface Place {
  /** As in `conversations[].limits`; '' is the top. */
  readonly path: string;
  readonly keys: readonly string[];
}

/** Every map with keys of its own, by the path to it; both spellings of a value are looked into. */
function placesOf(schema: JsonSchema, at: string): Place[] {
  const either = [...((schema['anyOf'] ?? []) as JsonSchema[]), ...((schema['oneOf'] ?? []) as JsonSchema[])];
  const inEither = either.flatMap((one) => placesOf(one, at));
  const items = schema['items'];
  const inItems = typeof items === 'object' && items !== null ? placesOf(items as JsonSchema, `${at}[]`) : [];
  const named = schema['additionalProperties'];
  const inNamed = typeof named === 'object' && named !== null ? placesOf(named as JsonSchema, `${at}.*`) : [];
  const properties = schema['properties'] as Record<string, JsonSchema> | undefined;
  const keys = Object.keys(properties ?? {});
  const own = properties === undefined || schema['type'] !== 'object' ? [] : [{ path: at, keys }];
  const below = Object.entries(properties ?? {}).flatMap(([key, value]) =>
    placesOf(value, at === '' ? key : `${at}.${key}`),
  );
  return [...own, ...inEither, ...inItems, ...inNamed, ...below];
}

/** A text that ends where a key of that map would be typed. */
function textFor(place: string): {
  readonly text: string;
  readonly line: number;
  readonly character: number;
} {
  const lines = [`# yaml-language-server: $schema=file://${SCHEMA}`, 'kind: job', 'version: 1', 'name: demo'];
  let indent = '';
  let lead = '';
  for (const step of place === '' ? [] : place.split('.')) {
    const name = step === '*' ? 'x' : step.replaceAll('[]', '');
    lines.push(`${indent}${lead}${name}:`);
    indent = `${indent}${lead === '' ? '' : '  '}  `;
    lead = step.endsWith('[]') ? '- ' : '';
  }
  const last = `${indent}${lead}`;
  return { text: [...lines, last].join('\n'), line: lines.length, character: last.length };
}

const places = placesOf(jobSchema(), '');
const paths = [...new Set(places.map((place) => place.path))];

describe('completion', () => {
  let client: Client;

  beforeAll(async () => {
    client = new Client();
    await client.request('initialize', {
      processId: process.pid,
      rootUri: null,
      capabilities: { textDocument: { completion: { completionItem: { snippetSupport: true } } } },
    });
    client.send({ method: 'initialized', params: {} });
    client.send({ method: 'workspace/didChangeConfiguration', params: { settings: { yaml: SETTINGS } } });
  });

  afterAll(() => client.close());

  it('is asked at many places', () => {
    expect(paths.length).toBeGreaterThan(25);
    expect(paths).toContain('conversations[].limits');
  });

  it.each(paths)('offers every key at "%s"', async (place) => {
    const { text, line, character } = textFor(place);
    const uri = `file:///tmp/${encodeURIComponent(place)}.yaml`;
    client.send({
      method: 'textDocument/didOpen',
      params: { textDocument: { uri, languageId: 'yaml', version: 1, text } },
    });
    const answer = (await client.request('textDocument/completion', {
      textDocument: { uri },
      position: { line, character },
    })) as CompletionList;
    const offered = answer.items.map(({ label }) => label);
    const written = place === '' ? ['kind', 'version', 'name'] : [];
    const keys = new Set(places.filter((one) => one.path === place).flatMap((one) => one.keys));
    for (const key of keys) if (!written.includes(key)) expect(offered).toContain(key);
  });
});
