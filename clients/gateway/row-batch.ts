/**
 * Rows of an export as columns, for the way from one thread to another: objects would be written and read one by one.
 * Owns packing and unpacking; must not read or normalise.
 */
import { nanoUsd } from '../../core/money/money.ts';
import type { GatewayRow } from '../../core/money/spend.ts';

const TEXTS = [
  'responseId',
  'model',
  'sessionId',
  'keyName',
  'metadataSessionId',
  'user',
  'team',
] as const satisfies readonly (keyof GatewayRow)[];

/** Each text once, and for each row where it stands: most rows of an export share all but their id. */
interface TextList {
  readonly texts: readonly (string | null)[];
  readonly places: Uint32Array;
}

export interface RowBatch {
  /** Of the first row; the others follow. */
  readonly position: number;
  readonly startedAt: Float64Array;
  readonly endedAt: Float64Array;
  readonly promptTokens: Float64Array;
  readonly completionTokens: Float64Array;
  readonly cost: Float64Array;
  readonly isUnpriced: Uint8Array;
  readonly texts: Readonly<Record<(typeof TEXTS)[number], TextList>>;
  /** As JSON. */
  readonly tags: TextList;
}

/** Of rows that follow each other. */
export function packRows(rows: readonly GatewayRow[]): RowBatch {
  const numbers = (of: (row: GatewayRow) => number) => Float64Array.from(rows, of);
  return {
    position: rows[0]?.position ?? 0,
    startedAt: numbers((row) => row.startedAt),
    endedAt: numbers((row) => row.endedAt),
    promptTokens: numbers((row) => row.promptTokens),
    completionTokens: numbers((row) => row.completionTokens),
    cost: numbers((row) => row.cost),
    isUnpriced: Uint8Array.from(rows, (row) => (row.isUnpriced === true ? 1 : 0)),
    texts: Object.fromEntries(
      TEXTS.map((name) => [name, textList(rows, (row) => row[name] ?? null)]),
    ) as RowBatch['texts'],
    tags: textList(rows, ({ tags }) => (tags.length === 0 ? '[]' : JSON.stringify(tags))),
  };
}

function textList(rows: readonly GatewayRow[], of: (row: GatewayRow) => string | null): TextList {
  const placeOf = new Map<string | null, number>();
  const places = Uint32Array.from(rows, (row) => {
    const text = of(row);
    const known = placeOf.get(text);
    if (known !== undefined) return known;
    placeOf.set(text, placeOf.size);
    return placeOf.size - 1;
  });
  return { texts: [...placeOf.keys()], places };
}

export function unpackRows(batch: RowBatch): readonly GatewayRow[] {
  const { responseId, model, sessionId, keyName, metadataSessionId, user, team } = batch.texts;
  const tags = batch.tags.texts.map((text) => JSON.parse(text ?? '[]') as readonly string[]);
  const rows: GatewayRow[] = [];
  for (let place = 0; place < batch.cost.length; place += 1) {
    const row: { -readonly [Name in keyof GatewayRow]: GatewayRow[Name] } = {
      responseId: textAt(responseId, place),
      startedAt: batch.startedAt[place] ?? 0,
      endedAt: batch.endedAt[place] ?? 0,
      model: textAt(model, place) ?? '',
      sessionId: textAt(sessionId, place),
      tags: tags[batch.tags.places[place] ?? 0] ?? [],
      keyName: textAt(keyName, place),
      promptTokens: batch.promptTokens[place] ?? 0,
      completionTokens: batch.completionTokens[place] ?? 0,
      cost: nanoUsd(batch.cost[place] ?? 0),
      metadataSessionId: textAt(metadataSessionId, place),
      position: batch.position + place,
    };
    const [by, of] = [textAt(user, place), textAt(team, place)];
    if (by !== null) row.user = by;
    if (of !== null) row.team = of;
    if (batch.isUnpriced[place] === 1) row.isUnpriced = true;
    rows.push(row);
  }
  return rows;
}

function textAt({ texts, places }: TextList, place: number): string | null {
  return texts[places[place] ?? 0] ?? null;
}
