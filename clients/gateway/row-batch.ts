/**
 * Rows of an export as columns, for the way from one thread to another: objects would be written and read one by one.
 * Owns packing and unpacking; must not read or normalise.
 */
import { nanoUsd } from '../../core/money/money.ts';
import type { GatewayRow } from '../../core/money/spend.ts';

const NUMBERS = [
  'startedAt',
  'endedAt',
  'promptTokens',
  'completionTokens',
  'cost',
] as const satisfies readonly (keyof GatewayRow)[];

const TEXTS = [
  'model',
  'sessionId',
  'keyName',
  'metadataSessionId',
  'user',
  'team',
] as const satisfies readonly (keyof GatewayRow)[];

/** Each text once, and for each row where it stands: most rows of an export share all but their id. */
interface SharedTexts {
  readonly texts: readonly (string | null)[];
  /** Null where there is but one text. */
  readonly places: Uint32Array | null;
}

/** Texts that differ from row to row, behind each other. */
interface OwnTexts {
  readonly text: string;
  /** Where the text of each row ends; −1 for a row without one. */
  readonly ends: Int32Array;
}

export interface RowBatch {
  /** Of the first row; the others follow. */
  readonly position: number;
  readonly rows: number;
  readonly numbers: Readonly<Record<(typeof NUMBERS)[number], Float64Array>>;
  readonly isUnpriced: Uint8Array;
  readonly responseIds: OwnTexts;
  readonly texts: Readonly<Record<(typeof TEXTS)[number], SharedTexts>>;
  /** As JSON. */
  readonly tags: SharedTexts;
}

/** Of rows that follow each other. */
export function packRows(rows: readonly GatewayRow[]): RowBatch {
  return {
    position: rows[0]?.position ?? 0,
    rows: rows.length,
    numbers: byName(NUMBERS, (name) => numbersOf(rows, (row) => row[name])),
    isUnpriced: Uint8Array.from(rows, (row) => (row.isUnpriced === true ? 1 : 0)),
    responseIds: ownTexts(rows),
    texts: byName(TEXTS, (name) => sharedTexts(rows, (row) => row[name] ?? null)),
    tags: sharedTexts(rows, ({ tags }) => (tags.length === 0 ? '[]' : JSON.stringify(tags))),
  };
}

function byName<Name extends string, Column>(
  names: readonly Name[],
  columnOf: (name: Name) => Column,
): Readonly<Record<Name, Column>> {
  return Object.fromEntries(names.map((name) => [name, columnOf(name)])) as Record<Name, Column>;
}

function numbersOf(rows: readonly GatewayRow[], of: (row: GatewayRow) => number): Float64Array {
  const column = new Float64Array(rows.length);
  let place = 0;
  for (const row of rows) {
    column[place] = of(row);
    place += 1;
  }
  return column;
}

function ownTexts(rows: readonly GatewayRow[]): OwnTexts {
  const ends = new Int32Array(rows.length);
  let [text, place] = ['', 0];
  for (const { responseId } of rows) {
    if (responseId !== null) text += responseId;
    ends[place] = responseId === null ? -1 : text.length;
    place += 1;
  }
  return { text, ends };
}

function sharedTexts(rows: readonly GatewayRow[], of: (row: GatewayRow) => string | null): SharedTexts {
  const placeOf = new Map<string | null, number>();
  const places = new Uint32Array(rows.length);
  let last: string | null | undefined;
  let [place, at] = [0, 0];
  for (const row of rows) {
    const text = of(row);
    if (text !== last) {
      at = placeOf.get(text) ?? placeOf.size;
      placeOf.set(text, at);
      last = text;
    }
    places[place] = at;
    place += 1;
  }
  return { texts: [...placeOf.keys()], places: placeOf.size > 1 ? places : null };
}

/** What need not be copied on the way to another thread. */
export function buffersOf(batch: RowBatch): readonly ArrayBuffer[] {
  const { numbers, isUnpriced, responseIds, texts, tags } = batch;
  const places = [...Object.values(texts), tags].flatMap((list) => list.places ?? []);
  const columns = [...Object.values(numbers), isUnpriced, responseIds.ends, ...places];
  return columns.map(({ buffer }) => buffer as ArrayBuffer);
}

/** About as much as it holds of the memory while it waits. */
export function bytesIn(batch: RowBatch): number {
  const shared = [...Object.values(batch.texts), batch.tags].flatMap(({ texts }) => texts);
  const characters = shared.reduce((sum, text) => sum + (text?.length ?? 0), batch.responseIds.text.length);
  return buffersOf(batch).reduce((sum, { byteLength }) => sum + byteLength, characters);
}

/** One by one: objects that all live at once outlast the young part of the heap, and fill the old one. */
export function* unpackRows(batch: RowBatch): Generator<GatewayRow> {
  const { startedAt, endedAt, promptTokens, completionTokens, cost } = batch.numbers;
  const { model, sessionId, keyName, metadataSessionId, user, team } = batch.texts;
  const { text, ends } = batch.responseIds;
  const tags = batch.tags.texts.map((list) => JSON.parse(list ?? '[]') as readonly string[]);
  let idFrom = 0;
  for (let place = 0; place < batch.rows; place += 1) {
    const idTo = ends[place] ?? -1;
    const row: { -readonly [Name in keyof GatewayRow]: GatewayRow[Name] } = {
      responseId: idTo < 0 ? null : text.slice(idFrom, idTo),
      startedAt: startedAt[place] ?? 0,
      endedAt: endedAt[place] ?? 0,
      model: textAt(model, place) ?? '',
      sessionId: textAt(sessionId, place),
      tags: tags[batch.tags.places?.[place] ?? 0] ?? [],
      keyName: textAt(keyName, place),
      promptTokens: promptTokens[place] ?? 0,
      completionTokens: completionTokens[place] ?? 0,
      cost: nanoUsd(cost[place] ?? 0),
      metadataSessionId: textAt(metadataSessionId, place),
      position: batch.position + place,
    };
    if (idTo >= 0) idFrom = idTo;
    const [by, of] = [textAt(user, place), textAt(team, place)];
    if (by !== null) row.user = by;
    if (of !== null) row.team = of;
    if (batch.isUnpriced[place] === 1) row.isUnpriced = true;
    yield row;
  }
}

function textAt({ texts, places }: SharedTexts, place: number): string | null {
  return texts[places?.[place] ?? 0] ?? null;
}
