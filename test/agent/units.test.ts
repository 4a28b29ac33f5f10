/** Small pure parts: ids, times, stuck detection, configuration, context window. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ConfigError, readConfig } from '../../agent/config.ts';
import { eventsToForget } from '../../agent/model/context-window.ts';
import type { MessageEvent } from '../../agent/conversation/event.ts';
import { hexOf, hyphenatedUuid } from '../../agent/ids.ts';
import { costHeaderOf, parseCompletion } from '../../agent/model/llm-response.ts';
import { naiveTimestamp, nextEventUs, parseTimestampUs } from '../../agent/timestamp.ts';
import { ByteWindow, boundText } from '../../agent/text-bound.ts';
import { wireName } from '../../agent/tools/tool-set.ts';

describe('ids and times', () => {
  it('accepts both spellings of a UUID', () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        expect(hyphenatedUuid(hexOf(uuid).toUpperCase())).toBe(uuid);
        expect(hyphenatedUuid(uuid)).toBe(uuid);
      }),
    );
    expect(hyphenatedUuid('../../etc/passwd')).toBeNull();
  });

  it('reads the times it writes, and never repeats one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e15 }), fc.integer({ min: 0, max: 4e12 }), (lastUs, nowMs) => {
        expect(parseTimestampUs(naiveTimestamp(lastUs))).toBe(lastUs);
        expect(nextEventUs(lastUs, nowMs)).toBeGreaterThan(lastUs);
      }),
    );
    expect(parseTimestampUs('2026-05-02T09:30:01+02:00')).toBe(parseTimestampUs('2026-05-02T07:30:01Z'));
    expect(parseTimestampUs('yesterday')).toBeNull();
  });
});

describe('bounds of text', () => {
  it('keep head and tail', () => {
    expect(boundText('abcdef', 4)).toBe('ab\n[... 2 characters were cut out here ...]\nef');
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 30 }), { maxLength: 30 }), (chunks) => {
        const window = new ByteWindow(40);
        for (const chunk of chunks) window.push(Buffer.from(chunk));
        const whole = chunks.join('');
        if (Buffer.byteLength(whole) <= 40) expect(window.text()).toBe(whole);
        else expect(window.text()).toContain('bytes were cut out here');
      }),
    );
  });
});

describe('eventsToForget()', () => {
  const message = (id: string, source: 'user' | 'agent', text: string, image = ''): MessageEvent => ({
    id,
    timestamp: naiveTimestamp(0),
    parent_id: null,
    kind: 'MessageEvent',
    source,
    llm_message: {
      role: source === 'user' ? 'user' : 'assistant',
      content: [
        { type: 'text', text, cache_prompt: false },
        ...(image === '' ? [] : [{ type: 'image', image_urls: [image], cache_prompt: false } as const]),
      ],
      thinking_blocks: [],
    },
    llm_response_id: null,
    activated_skills: [],
    extended_content: [],
    sender: null,
    critic_result: null,
  });
  const turns = (image: string, chars: number) =>
    ['user', 'agent', 'agent', 'agent', 'user', 'agent', 'agent', 'agent'].map((source, index) => ({
      kind: 'message' as const,
      event: message(String(index), source as 'user' | 'agent', 'x'.repeat(chars), index === 0 ? image : ''),
    }));

  it('forgets the oldest of the agent, never what users said or the latest turns', () => {
    expect(eventsToForget(turns('', 3_500), { tokensMax: 10_000, baseChars: 0 })).toEqual([]);
    expect(eventsToForget(turns('', 3_500), { tokensMax: 7_000, baseChars: 0 })).toEqual(['1', '2', '3']);
    expect(eventsToForget(turns('', 3_500), { tokensMax: 10, baseChars: 0 })).toEqual(['1', '2', '3']);
  });

  it('counts an image by what it costs, not by its data', () => {
    const image = `data:image/png;base64,${'A'.repeat(1_000_000)}`;
    expect(eventsToForget(turns(image, 10), { tokensMax: 5_000, baseChars: 0 })).toEqual([]);
  });
});

describe('readConfig()', () => {
  it('has defaults, accepts fractions and removes the session key', () => {
    const environment: Record<string, string> = {
      OH_SESSION_API_KEYS_0: 'key',
      PARLEY_AGENT_SOCKET: '/run/a.sock',
      OH_WEBHOOKS_0_BASE_URL: 'http://127.0.0.1:1/hooks/',
      OH_WEBHOOKS_0_FLUSH_DELAY: '0.25',
    };
    const config = readConfig(environment, '/base');
    expect(config).toEqual({
      listen: { kind: 'socket', path: '/run/a.sock' },
      sessionKey: 'key',
      conversationsDir: '/base/conversations',
      workspaceDir: '/base',
      pluginsDir: '/base/conversations/.plugins',
      webhook: {
        baseUrl: 'http://127.0.0.1:1/hooks',
        bufferSize: 5,
        flushDelayMs: 250,
        retriesMax: 3,
        retryDelayMs: 5000,
      },
    });
    expect(environment).not.toHaveProperty('OH_SESSION_API_KEYS_0');
    expect(readConfig({}, '/base').listen).toEqual({ kind: 'tcp', host: '127.0.0.1', port: 8000 });
    expect(() => readConfig({ PARLEY_AGENT_PORT: 'http' }, '/')).toThrow(ConfigError);
  });
});

describe('answers of the model', () => {
  it('are read leniently, with cost from header or usage', () => {
    const given = { costHeader: costHeaderOf('X-Acme-Session-Id'), fallbackId: 'fallback' };
    const message = {
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      tool_calls: null,
    };
    const text = JSON.stringify({ choices: [{ message }], usage: { prompt_tokens: 3, cost: 0.5 } });
    expect(parseCompletion({ text, headers: {} }, given)).toMatchObject({
      responseId: 'fallback',
      text: 'ab',
      toolCalls: [],
      usage: { promptTokens: 3, completionTokens: 0, costUsd: 0.5 },
    });
    const priced = parseCompletion({ text, headers: { 'x-acme-response-cost': '0.125' } }, given);
    expect(priced?.usage.costUsd).toBe(0.125);
    expect(parseCompletion({ text: '{"choices":[]}', headers: {} }, given)).toBeNull();
    expect(parseCompletion({ text: '<html>', headers: {} }, given)).toBeNull();
  });

  it('name tools as the wire or as a class does', () => {
    expect(['TerminalTool', 'FileEditorTool', 'task_tracker'].map(wireName)).toEqual([
      'terminal',
      'file_editor',
      'task_tracker',
    ]);
  });
});
