/**
 * Rows that have to wait until every row was seen: those that no id assigns to a call.
 * Owns what is kept of each, and their order; must not judge a row.
 *
 * With a gateway that reports no ids these are all rows of a bill: as objects, millions would fill the heap.
 */
import { float64Column, int32Column, TextColumn, uint8Column } from '../columns.ts';
import { nanoUsd } from '../money/money.ts';
import type { GatewayRow } from '../money/spend.ts';
import type { JudgedRow } from './reconcile-result.ts';

/** What is known of a row when it begins to wait. */
export interface Waiting {
  /** Its place among all rows. */
  readonly index: number;
  readonly isDuplicate: boolean;
  /** The conversation that the row names; whether that is proof is another question. */
  readonly owner: number | null;
}

const NUMBERS = [
  'startedAt',
  'endedAt',
  'promptTokens',
  'completionTokens',
  'cost',
  'position',
] as const satisfies readonly (keyof JudgedRow)[];

const NAMES = ['model', 'user', 'team'] as const satisfies readonly (keyof JudgedRow)[];

const NOBODY = -1;
/** Marks, one bit each. */
const DUPLICATE = 1;
const UNPRICED = 2;
const NAMELESS = 4;

export class WaitingRows {
  private readonly numbers = columnsOf(NUMBERS, float64Column);
  private readonly names = columnsOf(NAMES, int32Column);
  private readonly indexes = float64Column();
  private readonly owners = int32Column();
  private readonly marks = uint8Column();
  private readonly responseIds = new TextColumn();
  /** Each name once; null where a row has none. */
  private readonly texts: (string | null)[] = [];
  private readonly textPlaces = new Map<string | null, number>();

  get length(): number {
    return this.marks.length;
  }

  add(row: GatewayRow, { index, isDuplicate, owner }: Waiting): void {
    for (const name of NUMBERS) this.numbers[name].push(row[name]);
    for (const name of NAMES) this.names[name].push(this.textPlace(row[name] ?? null));
    this.indexes.push(index);
    this.owners.push(owner ?? NOBODY);
    this.responseIds.push(row.responseId ?? '');
    const duplicate = isDuplicate ? DUPLICATE : 0;
    const unpriced = row.isUnpriced === true ? UNPRICED : 0;
    this.marks.push(duplicate | unpriced | (row.responseId === null ? NAMELESS : 0));
  }

  private textPlace(text: string | null): number {
    const known = this.textPlaces.get(text);
    if (known !== undefined) return known;
    const place = this.texts.push(text) - 1;
    this.textPlaces.set(text, place);
    return place;
  }

  /** Places by the begin of their rows; rows of one instant stay in the order of the export. */
  inOrderOfTime(): Uint32Array {
    const { startedAt } = this.numbers;
    const order = (a: number, b: number): number =>
      startedAt.at(a) - startedAt.at(b) || this.indexes.at(a) - this.indexes.at(b);
    return Uint32Array.from({ length: this.length }, (_, place) => place).sort(order);
  }

  /** Made anew each time: none of them need live for long. */
  rowAt(place: number): JudgedRow {
    const { startedAt, endedAt, promptTokens, completionTokens, cost, position } = this.numbers;
    return {
      responseId: this.has(place, NAMELESS) ? null : this.responseIds.at(place),
      startedAt: startedAt.at(place),
      endedAt: endedAt.at(place),
      model: this.nameAt('model', place) ?? '',
      promptTokens: promptTokens.at(place),
      completionTokens: completionTokens.at(place),
      cost: nanoUsd(cost.at(place)),
      user: this.nameAt('user', place),
      team: this.nameAt('team', place),
      isUnpriced: this.has(place, UNPRICED),
      position: position.at(place),
    };
  }

  waitingAt(place: number): Waiting {
    const isDuplicate = this.has(place, DUPLICATE);
    return { index: this.indexes.at(place), isDuplicate, owner: this.ownerAt(place) };
  }

  ownerAt(place: number): number | null {
    const owner = this.owners.at(place);
    return owner === NOBODY ? null : owner;
  }

  private nameAt(name: (typeof NAMES)[number], place: number): string | null {
    return this.texts[this.names[name].at(place)] ?? null;
  }

  private has(place: number, mark: number): boolean {
    return (this.marks.at(place) & mark) !== 0;
  }
}

function columnsOf<Name extends string, Column>(
  names: readonly Name[],
  make: () => Column,
): Readonly<Record<Name, Column>> {
  return Object.fromEntries(names.map((name) => [name, make()])) as Record<Name, Column>;
}
