/** Secret values in what is stored: in which forms they are found, and what is left alone. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  containsSecret,
  redactEvents,
  redactText,
  secretForms,
  secretScope,
} from '../../activities/redaction.ts';
import { appendEvents } from '../../activities/transcript.ts';
import { activityWorld, CONVERSATION } from './activity-world.ts';
import { agentEvent } from './fake-agent.ts';

const VALUE = `p"a\\ss/w\u00f6rd?+1~\n`;
const FORMS: readonly (readonly [string, string])[] = [
  ['raw', VALUE],
  ['base64', Buffer.from(VALUE).toString('base64')],
  ['base64 without padding', Buffer.from(VALUE).toString('base64').replace(/=+$/, '')],
  ['base64url', Buffer.from(VALUE).toString('base64url')],
  ['URL-encoded', encodeURIComponent(VALUE)],
  ['JSON-escaped', JSON.stringify(VALUE).slice(1, -1)],
];

async function withSecrets(values: Readonly<Record<string, string>>) {
  const around = await activityWorld();
  for (const [name, value] of Object.entries(values))
    await around.world.vault.put(secretScope(CONVERSATION), name, value);
  return around;
}

describe('redactEvents()', () => {
  it.each(FORMS)('hides a value that is %s, wherever it is', async (_, form) => {
    const { world } = await withSecrets({ TOKEN: VALUE });
    const event = agentEvent('e1', { text: `before ${form} after`, deep: [{ [form]: [form] }] });
    const [clean] = await redactEvents(world, CONVERSATION, [event]);
    expect(clean).toEqual(
      agentEvent('e1', {
        text: 'before <secret-hidden> after',
        deep: [{ '<secret-hidden>': ['<secret-hidden>'] }],
      }),
    );
  });

  it('hides a value inside JSON that is itself a text, as in the arguments of a tool call', async () => {
    const { world } = await withSecrets({ TOKEN: VALUE });
    const event = agentEvent('e1', { arguments: JSON.stringify({ command: `echo ${VALUE}` }) });
    const [clean] = await redactEvents(world, CONVERSATION, [event]);
    expect(clean?.['arguments']).toBe('{"command":"echo <secret-hidden>"}');
  });

  it('hides each line of a value that has several; only what nothing else has is found in a file', async () => {
    const value = 'kind: Config\n  token: abc\n  MIIEvQIBADANBgkqhkiG9w0\nend\n';
    const { world } = await withSecrets({ KUBECONFIG: value });
    const text = ['a kind: Config b', 'token: abc', '-> MIIEvQIBADANBgkqhkiG9w0', 'end'].join('\n');
    const [clean] = await redactEvents(world, CONVERSATION, [agentEvent('e1', { text })]);
    const hidden = '<secret-hidden>';
    expect(clean?.['text']).toBe([`a ${hidden} b`, hidden, `-> ${hidden}`, 'end'].join('\n'));
    const found = (file: string): boolean => containsSecret(Buffer.from(file), secretForms([value]));
    expect(found('kind: Config\ntoken: abc\n')).toBe(false);
    expect(found('key = MIIEvQIBADANBgkqhkiG9w0;')).toBe(true);
    expect(found(value)).toBe(true);
  });

  it.each(['":"', '","kind":"', '}]}', '123456', 'true'])(
    'keeps an event whole when a value looks like JSON: %s',
    async (value) => {
      const { world } = await withSecrets({ TOKEN: `${value}` });
      const event = agentEvent('e1', { text: 'plain', count: 7, number: 123456, yes: true, list: [{}] });
      const [clean] = await redactEvents(world, CONVERSATION, [event]);
      expect(clean).toEqual({ ...event, number: value === '123456' ? '<secret-hidden>' : 123456 });
    },
  );

  it('leaves events alone where there is no secret, or none worth the name', async () => {
    const { world } = await withSecrets({ SHORT: 'abc' });
    const events = [agentEvent('e1', { text: 'abc' })];
    expect(await redactEvents(world, CONVERSATION, events)).toEqual(events);
  });

  it('is what reaches the store', async () => {
    const { world } = await withSecrets({ TOKEN: VALUE });
    expect(await appendEvents(world, CONVERSATION, [agentEvent('e1', { text: VALUE })])).toBe(1);
    const [stored] = await world.events.events(CONVERSATION, { afterSequence: 0, limit: 10 });
    expect(stored?.body).toMatchObject({ text: '<secret-hidden>' });
  });
});

describe('redactText()', () => {
  it('leaves no form of any value behind', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 4, unit: 'grapheme' }), { minLength: 1, maxLength: 4 }),
        fc.string(),
        (values, around) => {
          const forms = secretForms(values);
          const clean = redactText(`${around}${forms.join(around)}`, forms);
          // What is put in a value's place may itself be one; that says nothing of the other.
          const unlike = forms.filter(
            (form) =>
              !'<secret-hidden>'.includes(form) && !`${around}<secret-hidden>${around}`.includes(form),
          );
          expect(
            unlike.filter((form) => clean.split('<secret-hidden>').some((part) => part.includes(form))),
          ).toEqual([]);
        },
      ),
      { numRuns: 200, seed: 20_260_712 },
    );
  });
});
