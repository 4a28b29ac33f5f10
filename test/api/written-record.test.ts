/** Records that are written once: the same as written anew, whatever changed around them in between. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Application } from '../../api/application/application.ts';
import { DIALECT_NAMES, dialectOf } from '../../api/application/dialect.ts';
import { recordsById, writtenRecord } from '../../api/conversations/conversation-record.ts';
import { EXECUTION_STATUSES, SANDBOX_STATUSES } from '../../core/status.ts';
import type { FullConversation } from '../../ports/record-search.ts';
import {
  conversationNumber,
  conversationRow,
  sandboxNumber,
  sandboxRow,
  USER,
} from '../contract/store-rows.ts';

const ID = conversationNumber(1);

const conversations: fc.Arbitrary<FullConversation> = fc
  .record({
    title: fc.option(fc.string({ unit: 'binary' })),
    tags: fc.dictionary(fc.string(), fc.string()),
    executionStatus: fc.option(fc.constantFrom(...EXECUTION_STATUSES)),
    sandbox: fc.option(
      fc.record({
        status: fc.constantFrom(...SANDBOX_STATUSES),
        available: fc.boolean(),
        generation: fc.nat(9),
      }),
    ),
    cost: fc.option(fc.nat()),
  })
  .map(({ sandbox, cost, ...changes }) => ({
    row: conversationRow(ID, changes),
    sandbox: sandbox === null ? null : sandboxRow(sandboxNumber(1), sandbox),
    usage:
      cost === null
        ? null
        : {
            ...{
              conversationId: ID,
              modelName: 'm "1"',
              promptTokens: 1,
              completionTokens: 2,
              cachedTokens: 3,
            },
            costNanoUsd: cost,
          },
  }));

interface Around {
  readonly dialect: (typeof DIALECT_NAMES)[number];
  readonly port: number | null;
}

/** An application that finds this one conversation; where its agents are reached may be another each time. */
function applicationWith({ dialect, port }: Around, full: FullConversation): Application {
  return {
    search: { fullConversations: () => Promise.resolve([full]) },
    dialect: dialectOf(dialect),
    publicUrl: () => 'http://127.0.0.1',
    agentAddress: () => (port === null ? null : `http://127.0.0.1:${port}`),
    world: { keys: { sessionKey: (id: string, generation: number) => `key of ${id} ${generation}` } },
  } as unknown as Application;
}

const arounds = fc.array(
  fc.record({
    dialect: fc.constantFrom(...DIALECT_NAMES),
    port: fc.option(fc.integer({ min: 1, max: 65_535 })),
  }),
  { minLength: 1, maxLength: 5 },
);

describe('writtenRecord()', () => {
  it('is the record as JSON, for every dialect and wherever its agent is reached at the moment', async () => {
    await fc.assert(
      fc.asyncProperty(conversations, arounds, async (full, many) => {
        for (const around of many) {
          const application = applicationWith(around, full);
          const [record] = await recordsById(application, USER, [ID]);
          expect(writtenRecord(application, full)).toBe(JSON.stringify(record));
        }
      }),
      { numRuns: 300 },
    );
  });
});
